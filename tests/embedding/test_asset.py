"""A model that is not the one we were built for is rejected with its reason."""

import hashlib
import json
import os
from pathlib import Path

import pytest

from agentlas_memory.embedding import asset, model, verify
from agentlas_memory.embedding.asset import DIGESTS, AssetRejected, asset_dir, open_asset
from agentlas_memory.embedding.verify import verify_asset, write_stamp


@pytest.fixture
def stamped(model_copy, tmp_path):
    """A copy of the model with its stamp."""
    stamp = tmp_path / "model.stamp"
    write_stamp(model_copy, stamp)
    return model_copy, stamp


@pytest.fixture
def hashed(monkeypatch):
    """The files hashed by the hook's check."""
    calls = []
    check = asset._check_digests
    monkeypatch.setattr(asset, "_check_digests", lambda path: (calls.append(path), check(path)))
    return calls


def flip_last_byte(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        last = file.read(1)[0]
        file.seek(-1, os.SEEK_END)
        file.write(bytes([last ^ 1]))


def truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 1)


def empty(path: Path) -> None:
    os.truncate(path, 0)


def make_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGES = [flip_last_byte, truncate, empty, Path.unlink, make_folder]


def test_the_packaged_model_verifies():
    report = verify_asset(asset_dir())
    assert (report.status, report.reason) == ("verified", "")
    manifest = Path(asset_dir(), "manifest.json").read_bytes()
    assert report.content_sha256 == hashlib.sha256(manifest).hexdigest()


def test_the_packaged_tables_are_the_published_quantisation():
    files = json.loads(Path(asset_dir(), "manifest.json").read_text())["files"]
    assert files["embeddings.i8"]["sha256"].startswith("02727ea774d77f96")
    assert files["scales.f32le"]["sha256"].startswith("9a42e12a15278a8f")


@pytest.mark.parametrize(
    ("name", "damage"),
    [*((name, flip_last_byte) for name in DIGESTS), *(("scales.f32le", do) for do in DAMAGES)],
)
def test_the_hook_rejects_a_damaged_file(name, damage, stamped):
    folder, stamp = stamped
    damage(folder / name)
    with pytest.raises(AssetRejected, match=name):
        open_asset(str(folder), str(stamp))


@pytest.mark.parametrize("damage", [flip_last_byte, truncate, Path.unlink])
@pytest.mark.parametrize("name", [*DIGESTS, "tokenizer.json", "LICENSE.model.txt"])
def test_full_verification_names_the_damaged_file(name, damage, model_copy):
    damage(model_copy / name)
    report = verify_asset(model_copy)
    assert report.status == "rejected"
    assert name in report.reason


def test_full_verification_tells_a_short_file_from_a_changed_one(model_copy):
    truncate(model_copy / "scales.f32le")
    assert verify_asset(model_copy).reason.endswith("118111 bytes, expected 118112")


@pytest.mark.parametrize(
    "damage", [empty, Path.unlink, make_folder], ids=lambda damage: damage.__name__
)
def test_full_verification_needs_the_manifest(damage, model_copy):
    damage(model_copy / "manifest.json")
    report = verify_asset(model_copy)
    assert report.status == "rejected"
    assert "manifest.json" in report.reason


def test_a_manifest_made_to_fit_a_foreign_file_does_not_pass(model_copy):
    data = b"\0" * 118112
    (model_copy / "scales.f32le").write_bytes(data)
    manifest = json.loads((model_copy / "manifest.json").read_text())
    manifest["files"]["scales.f32le"]["sha256"] = hashlib.sha256(data).hexdigest()
    (model_copy / "manifest.json").write_text(json.dumps(manifest))
    assert "this version was built for" in verify_asset(model_copy).reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{}", "not a manifest of ours"),
        ("[]", "not a manifest of ours"),
        ('{"format": "other"}', "format other"),
        ('{"format": "agentlas-model2vec-int8-v1", "files": {}}', "does not name embeddings.i8"),
    ],
)
def test_a_foreign_manifest_is_rejected(text, reason, model_copy):
    (model_copy / "manifest.json").write_text(text)
    assert reason in verify_asset(model_copy).reason


def test_a_matching_stamp_saves_the_hashing(stamped, hashed):
    folder, stamp = stamped
    open_asset(str(folder), str(stamp))
    assert hashed == []


@pytest.mark.parametrize(
    "stamp", [None, "/nonexistent/stamp", "/"], ids=["none", "missing", "folder"]
)
def test_without_a_stamp_the_files_are_hashed(stamp, hashed):
    open_asset(asset_dir(), stamp)
    assert hashed == [asset_dir()]


@pytest.mark.parametrize("content", [b"", b"\xff\0", b"embeddings.i8 1 2 3\n"])
def test_a_stamp_that_says_something_else_costs_hashing_only(content, stamped, hashed):
    folder, stamp = stamped
    stamp.write_bytes(content)
    open_asset(str(folder), str(stamp))
    assert hashed == [str(folder)]


def test_a_touched_but_equal_file_is_accepted_after_hashing(stamped, hashed):
    folder, stamp = stamped
    os.utime(folder / "embeddings.i8", ns=(1, 1))
    open_asset(str(folder), str(stamp))
    assert hashed == [str(folder)]


def test_a_replaced_file_of_equal_size_and_time_is_caught_by_its_inode(stamped):
    folder, stamp = stamped
    target, other = folder / "scales.f32le", folder / "other"
    seen = target.stat()
    other.write_bytes(b"\0" * seen.st_size)
    os.utime(other, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    other.replace(target)
    with pytest.raises(AssetRejected, match=r"scales\.f32le"):
        open_asset(str(folder), str(stamp))


def test_a_stamp_vouches_only_for_the_digests_it_was_written_for(stamped, monkeypatch):
    folder, stamp = stamped
    monkeypatch.setitem(DIGESTS, "scales.f32le", "0" * 64)
    with pytest.raises(AssetRejected, match=r"scales\.f32le"):
        open_asset(str(folder), str(stamp))


def test_the_stamp_is_private_and_leaves_nothing_beside_it(stamped):
    _, stamp = stamped
    assert stamp.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in stamp.parent.iterdir() if path.is_file()] == ["model.stamp"]


@pytest.mark.parametrize("damage", [flip_last_byte, Path.unlink])
def test_a_damaged_model_gets_no_stamp(damage, model_copy, tmp_path):
    damage(model_copy / "embeddings.i8")
    with pytest.raises(AssetRejected, match=r"embeddings\.i8"):
        write_stamp(model_copy, tmp_path / "model.stamp")
    assert not (tmp_path / "model.stamp").exists()


def test_a_failed_write_leaves_the_old_stamp(stamped, monkeypatch):
    folder, stamp = stamped
    before = stamp.read_bytes()
    monkeypatch.setattr(verify.Path, "replace", lambda *_: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        write_stamp(folder, stamp)
    assert stamp.read_bytes() == before
    assert [path.name for path in stamp.parent.iterdir() if path.is_file()] == ["model.stamp"]


def test_the_stamp_is_found_under_any_path_to_the_model(model_copy, tmp_path, hashed, monkeypatch):
    (tmp_path / "state").mkdir()
    (tmp_path / "current").symlink_to(model_copy)
    at(model_copy, monkeypatch)
    verify.refresh_stamp(str(tmp_path))
    at(tmp_path / "current", monkeypatch)
    assert model.open_model(str(tmp_path)) is not None
    assert hashed == []


def test_stamps_of_old_installations_are_forgotten(model_copy, tmp_path, monkeypatch):
    (tmp_path / "state").mkdir()
    for number in range(20):
        (tmp_path / f"state/model-1-{number}.stamp").touch()
    at(model_copy, monkeypatch)
    verify.refresh_stamp(str(tmp_path))
    left = list((tmp_path / "state").iterdir())
    assert len(left) == 8
    assert Path(model.stamp_file(str(tmp_path))) in left


def test_a_model_that_is_gone_is_no_model(tmp_path, monkeypatch):
    at(tmp_path / "nowhere", monkeypatch)
    assert model.open_model(str(tmp_path)) is None


def at(folder, monkeypatch):
    """Let the packaged model be in another folder."""
    for module in (model, verify):
        monkeypatch.setattr(module, "asset_dir", lambda: str(folder))
