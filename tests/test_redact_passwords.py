"""Passwords, and what else only the words around it give away, leave the text; look-alikes stay."""

import time
from pathlib import Path

import pytest
from redaction.drawing import ALNUM, drawn

from agentlas_memory.redact import redact

HASH = drawn(ALNUM, 53)
WRITTEN = {  # text with the credential between « and » -> kind
    "host:5432:db:user:«shortpw»": "password",
    "db.local:*:*:app:«Xk9!q»": "password",
    "db.internal:6000:shop:shop_rw:«hunter2x»": "password",
    f"deploy:«$2y$10${HASH}»\n": "password-hash",
    f"root:«$6$a1b2c3d4${HASH}»:19700:0:99999:7:::": "password-hash",
    "machine api.example.com\n  login ci\n\tpassword «swordfish»\n": "password",
    "machine api login ci password «hunter2»": "password",
    "default login ci password «hunter2»": "password",
    "password: «Summer2024!» # staging": "password",
    "password: «Rosebud77», user: app": "password",
    "(user: app, password: «Rosebud77»)": "password",
    "| password: «rosebud#77» | staging |": "password",
    "The password: «rose$bud» works.": "password",
    "user=app;password=«rosebud77»;timeout=5": "password",
    "PGPASSWORD=«rosebud77» psql -h db": "password",
    "sshpass -p '«Zx9!k»' ssh host": "option-value",
    "sshpass -p«swordfish» scp a b:": "option-value",
    "mysql -u root -p«swordfish» shop": "option-value",
    "mysqldump shop -h db -uroot -p«Zx9kk!»": "option-value",
    "mariadb-dump --all-databases -p'«Zx9kk!»'": "option-value",
    "CREATE USER 'app'@'%' IDENTIFIED BY '«swordfish»';": "password",
    "ALTER USER app IDENTIFIED WITH caching_sha2_password BY '«Zx9kk!»'": "password",
    "alter role app with login password '«Zx9kk!»'": "password",
    "curl -su admin:«hunter2» https://example.com": "basic-auth",
    "curl --proxy-user 'ci:«x9y8z7»' https://example.com": "basic-auth",
    "kind: Secret\nstringData: {user: app, password: «Zx9kk!4q»}": "kubernetes-secret",
    '{"kind": "Secret", "data": {"a.key": "«TFMwdExTMUNSVWRKVGk=»"}}': "kubernetes-secret",
    r"{\"data\":{\"a.key\":\"«TFMwdExTMUNSVWRKVGk=»\"},\"kind\":\"Secret\"}": "kubernetes-secret",
    "kind: Secret\r\ndata:\r\n  a: |\r\n    «TFMwdExTMUNSVWRKVGk=»\r\n": "kubernetes-secret",
    "- name: DB_PASSWORD\n  value: «rosebud77»\n": "password",
    '[{"name": "DB_PASSWORD",\n  "value": "«rosebud77»"}]': "password",
    "<name>fs.secret</name>\n<value>«rosebud77»</value>": "password",
    "password: |\n  «rosebud77»\nuser: app": "password",
    "Set-Cookie: sessionid=«x7k2p9q4m1z8w3v6»; Path=/": "cookie",
    "curl -b 'PHPSESSID=«x7k2p9q4m1z8w3v6»' https://example.com": "cookie",
    "otpauth://totp/Acme:bob?issuer=Acme&secret=«JBSWYTDPEHPK»": "otp-secret",
    "https://«x7k2p9q4m1z8w3v6»:x-oauth-basic@github.com/a/b": "url-token",
    "https://«x7k2p9q4m1z8w3v6»:@api.example.com/v1": "url-token",
    '{\\\\\\"password\\\\\\": \\\\\\"«rosebud77»\\\\\\"}': "password",
    """password = "«rose'bud77»" # old""": "password",
    "auth: 'Server=db;Uid=app;Password=«rosebud77»;'": "password",
    "kind: Secret\ndata:\n  ca.crt: «LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0»\n": "kubernetes-secret",
    "postgres://u:«p»@h/db": "url-password",
    "redis://:«s3cretvalue»@cache:6379/0": "url-password",
    "amqp://svc:«p@ss-w0rd»@mq.internal:5672": "url-password",
    'password = "«hunter2hunter2»"': "password",
    "password: '«summer2024»'": "password",
    "DB_PASSWORD=«hunter2hunter2»": "password",
    "db_password: «Tr0ub4dor&3»\nuser: app": "password",
    '{"passwd": "«qwe!rty9»"}': "password",
    'login("bob", password="«Zx9!kkq»")': "password",
    "<password>«hunter2hunter2»</password>": "password",
    '<add key="Password" value="«S3cure.Value»" />': "password",
    "The admin password is «hunter2hunter2», change it.": "password",
    'client_secret => "«a81bC2d93e4f5»"': "password",
    'secret := "«k4jh5k3jh4k5jh»"': "password",
    "curl -u admin:«s3cr3t» https://example.com": "basic-auth",
    "curl -s --user 'ci:«x9y8z7»' https://example.com": "basic-auth",
    "Authorization: Basic «dXNlcjpwYXNzd29yZA==»": "authorization",
    "Authorization: Token «9944b09199c62bcf9418ad846dd0e4bb»": "authorization",
    "-H 'X-Api-Key: «9f8e7d6c5b4a39281706»'": "authorization",
    '{"Authorization": "Bearer «mF_9.B5f-4.1JqM7x»"}': "authorization",
    "https://example.com/cb?access_token=«b7f3c9d2e1a84f60»&state=1": "credential",
    "tool --token «b7f3c9d2e1a84f60» run": "option-value",
}
LINES_THAT_LOOK_ALIKE = [
    "kind: Secret\nmetadata:\n  name: db-login-2024\n  labels:\n    commit: a1b2c3d4e5f6a7b8\n",
    "kind: Secret\ndata:\n  a: ${A}\n---\nkind: ConfigMap\ndata:\n  build: 4f2a9c1d8e7b6a5f\n",
    "kind: ConfigMap\ndata:\n  build: 4f2a9c1d8e7b6a5f\n---\nkind: Secret\ndata: {}\n",
    "kind: SealedSecret\nspec:\n  encryptedData:\n    a: AgBy3i4OJSWK\n",
    "kind: SecretStore\ndata:\n  region: europe-west1-b2c3\n",
    "kind: Secret\nstringData:\n  username: application\n  url: git.example.com\n",
    "- name: TOKEN_TTL\n  value: 3600s\n- name: PASSWORD_FILE\n  value: secrets2\n",
    "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef: {name: db2, key: a1}\n",
    "password: |\n  ${DB_PASSWORD}\n",
    "password: >\n  Required field.\n",
    "machine example.com\n  login you\n  password <password>\n",
]
LOOK_ALIKES = (Path(__file__).parent / "redaction/look_alikes.txt").read_text().splitlines()
IN_PROSE = (
    "The password for the database is {}, ask Ada.",
    "Use password `{}` to log in.",
    "- **Password:** {}",
    "Passwort: {}",
    "Das Passwort ist {}.",
    "Kennwort: `{}`",
    "La contraseña es {}",
    "senha: {}",
    "A senha é {}",
    "Le mot de passe est {}",
    "Пароль от базы: {}",
    "| user | password |\n|---|---|\n| admin | {} |\n",
    "user | Passwort\n--- | ---\nadmin | `{}`\n",
)


@pytest.mark.parametrize("marked", WRITTEN)
def test_credential_known_by_its_surroundings_is_redacted(marked):
    before, _, rest = marked.partition("«")
    secret, _, after = rest.partition("»")
    assert redact(before + secret + after) == f"{before}[redacted:{WRITTEN[marked]}]{after}"


@pytest.mark.parametrize("text", LOOK_ALIKES + LINES_THAT_LOOK_ALIKE)
def test_look_alike_stays(text):
    assert redact(text) == text


def test_a_kubernetes_secret_is_redacted_in_its_own_document_alone():
    value = "TFMwdExTMUNSVWRKVGk="
    one = f"kind: ConfigMap\ndata:\n  a: {value}\n"
    two = f"kind: Secret\nmetadata:\n  uid: {value}\ndata:\n  a: {value}\ntype: {value}\n"
    clean = two.replace(f"  a: {value}", "  a: [redacted:kubernetes-secret]")
    assert redact(f"{one}---\n{two}---\n{one}") == f"{one}---\n{clean}---\n{one}"


@pytest.mark.parametrize("sentence", IN_PROSE)
def test_a_password_in_a_sentence_or_a_column_goes(sentence):
    value = "Tr0ub" + drawn(ALNUM, 4) + "!x9"
    assert value not in redact(sentence.format(value))


@pytest.mark.parametrize(
    "text",
    [
        "The password for the database is in Vault since v2.1.",
        "Use password `PASSWORD` of 8 letters.",
        "Use password `reset_v2()` to begin.",
        "Das Passwort ist seit 2024 lang genug.",
        "Пароль от базы: 12 знаков.",
        "The password is validated by UserStore2, see docs/adr/0002-users.md.",
        "| field | password |\n|---|---|\n| length | 8 to 72 |\n| since | v1.2 |\n",
        "| password | rule |\n|---|---|\n| required | at least 12 letters |\n",
    ],
)
def test_what_is_said_about_passwords_stays(text):
    assert redact(text) == text


@pytest.mark.parametrize("text", ["password " * 50_000 + "|", " " * 400_000 + "password 1 |"])
def test_a_text_full_of_the_word_takes_no_time(text):
    begin = time.process_time()
    redact(text)
    assert time.process_time() - begin < 5
