<#
.SYNOPSIS
Install agentlas-memory for yourself, and its hook into the assistants that are here.

.DESCRIPTION
The twin of install.sh for Windows: the same steps, by the same small Python programs, which are read
from the install.sh beside this file. It needs Python 3.10 or newer and no administrator. Nothing is
put into your Python, no profile is edited. Running it again repairs.

.PARAMETER From
A bundle (agentlas-memory-VERSION.tar.gz, or its unpacked folder) or a checkout; without it the one
that this script lies in.

.PARAMETER DryRun
Say what would be done, and do nothing.

.PARAMETER NoHosts
Leave the assistants alone.

.PARAMETER Prefix
A folder of ours other than .agentlas in your home (AGENTLAS_HOME).

.PARAMETER Python
The interpreter to run on; without it a usable one is looked for.
#>
[CmdletBinding()]
param(
    [string]$From = '',
    [switch]$DryRun,
    [switch]$NoHosts,
    [string]$Prefix = '',
    [string]$Python = ''
)
Set-StrictMode -Version 2
$ErrorActionPreference = 'Stop'
$Tested = @('3.10', '3.11', '3.12', '3.13')

# What happened, what was kept, what to do next.
function Stop-Install([string[]]$Lines) {
    foreach ($line in $Lines) { [Console]::Error.WriteLine($line) }
    exit 1
}

# The text of a Python program in install.sh, between NAME=' and the next line that is a '.
function Get-Program([string]$Name) {
    foreach ($file in @('install.sh', 'find_python.sh')) {
        $path = Join-Path $PSScriptRoot $file
        if (-not (Test-Path -LiteralPath $path)) { continue }
        $text = [IO.File]::ReadAllText($path).Replace("`r`n", "`n")
        $found = [regex]::Match($text, "(?sm)^$Name='\n(.*?)^'$")
        if ($found.Success) { return $found.Groups[1].Value }
    }
    Stop-Install @("install.sh is missing beside $PSCommandPath.", 'Nothing was changed.')
}

# Programs are run from files: quotes in an argument do not survive Windows PowerShell.
function Save-Program([string]$Name) {
    $path = Join-Path $Scratch "$Name.py"
    [IO.File]::WriteAllText($path, (Get-Program $Name))
    return $path
}

# Run a program and return its lines, or nothing if it failed. The Store's stub exits 49 or 9009.
function Get-Answer([string[]]$Command) {
    $ErrorActionPreference = 'Continue' # words on stderr are no error of this script
    $rest = @($Command | Select-Object -Skip 1)
    try { $lines = @('' | & $Command[0] @rest 2>$null) } catch { return @() }
    if ($LASTEXITCODE -ne 0) { return @() }
    return $lines
}

# "3.11 C:\path\python.exe" of one candidate, or nothing: run, never trusted by name.
function Test-Python([string[]]$Command) {
    if (-not (Get-Command $Command[0] -ErrorAction SilentlyContinue)) { return }
    Get-Answer ($Command + @('-I', $Probe)) | Select-Object -First 1
}

function Find-Pythons {
    if ($Python) {
        $found = @(Test-Python @($Python))
        if (-not $found) {
            Stop-Install @(
                "$Python cannot be used: it takes Python 3.10 or newer, with venv and with FTS5 in its SQLite.",
                'Nothing was changed. Name another one, or leave -Python out.')
        }
        return $found
    }
    $candidates = @(, @('python3')) + @(, @('python')) + @(, @('py', '-3'))
    foreach ($version in $Tested) { $candidates += , @('py', "-$version") }
    $found = @(foreach ($candidate in $candidates) { Test-Python $candidate })
    if (-not $found) {
        Stop-Install @(
            'No usable Python was found: it takes Python 3.10 or newer, with venv and with FTS5 in its SQLite.',
            'Nothing was changed. Install one from python.org or with uv, or name it with -Python PATH.')
    }
    return $found
}

# The path of the first usable Python whose version is among these.
function Select-Python([string[]]$Versions) {
    foreach ($line in $Usable) {
        $version, $path = $line.Split(' ', 2)
        if ($Versions -contains $version) { return $path }
    }
}

# A bundle for one Python, from the files of a checkout as they stand; it is not signed.
function New-Bundle([string]$Checkout) {
    $builder = Select-Python $Tested
    if (-not $builder) {
        Stop-Install @('A checkout is built for Python 3.10 to 3.13.', 'Nothing was changed.')
    }
    $version = @($Usable | Where-Object { $_.EndsWith(" $builder") })[0].Split(' ', 2)[0]
    $script = Join-Path $Checkout 'scripts/build_release.py'
    Write-Host "Building from $Checkout, for Python ${version}: fetches some 40 wheels"
    $built = & $builder -B -E -s $script --allow-dirty --folder --python $version --output (Join-Path $Scratch 'built')
    if ($LASTEXITCODE -ne 0) {
        Stop-Install @('The checkout could not be built; the lines above say why.', 'Nothing was changed.')
    }
    return @($built)[-1]
}

# An archive, or a folder: a bundle, a checkout, a channel with one archive in it.
function Open-Source([string]$Source) {
    if ((Split-Path -Leaf $Source) -eq 'scripts') { $Source = Split-Path -Parent $Source }
    if (Test-Path -LiteralPath (Join-Path $Source 'scripts/build_release.py')) {
        $script:Flags += '--checkout'
        return New-Bundle $Source
    }
    if ((Test-Path -LiteralPath $Source -PathType Leaf) -or (Test-Path -LiteralPath (Join-Path $Source 'SHA256SUMS'))) {
        return $Source
    }
    $archives = @(Get-ChildItem -LiteralPath $Source -Filter 'agentlas-memory-*.tar.gz' -ErrorAction SilentlyContinue)
    if ($archives.Count -ne 1) {
        Stop-Install @(
            "$Source holds no bundle of agentlas-memory, or several: name one with -From FILE.",
            'Nothing was changed.')
    }
    return $archives[0].FullName
}

# The command of the version that is active: on Windows `current` is a folder that names it.
function Get-Installed([string]$Runtimes) {
    $pointer = Join-Path $Runtimes 'current/runtime.txt'
    if (-not (Test-Path -LiteralPath $pointer)) { return Join-Path $Runtimes 'current/bin/agentlas-memory' }
    $id = [IO.File]::ReadAllText($pointer).Trim()
    return Join-Path $Runtimes "$id/Scripts/agentlas-memory.exe"
}

$Flags = @()
if ($DryRun) { $Flags += '--dry-run' }
if ($NoHosts) { $Flags += '--no-hosts' }
if ($Prefix) {
    $Prefix = $ExecutionContext.SessionState.Path.GetUnresolvedProviderPathFromPSPath($Prefix)
}
$Before = $env:AGENTLAS_HOME
$Scratch = Join-Path ([IO.Path]::GetTempPath()) ('agentlas-install-' + [guid]::NewGuid())
$null = New-Item -ItemType Directory -Path $Scratch
try {
    if ($Prefix) { $env:AGENTLAS_HOME = $Prefix }
    $Probe = Save-Program 'PROBE'
    $Usable = @(Find-Pythons)
    $Source = if ($From) { (Resolve-Path -LiteralPath $From).ProviderPath } else { $PSScriptRoot }
    $Bundle = Open-Source $Source
    $Folder = Join-Path $Scratch 'bundle'
    $Data = if ($env:AGENTLAS_HOME) { $env:AGENTLAS_HOME } else { Join-Path $HOME '.agentlas' }

    # All is copied and checked before any of the bundle's code runs. An empty argument does not
    # survive Windows PowerShell: a folder without a key says that no key speaks for a checkout.
    $Pinned = if ($Flags -contains '--checkout') { $Scratch } else { $Data }
    $First = Select-Python $Tested
    if (-not $First) { $First = $Usable[0].Split(' ', 2)[1] }
    $Checked = @(& $First -I (Save-Program 'CHECK') $Bundle $Folder $Pinned)
    if ($LASTEXITCODE -eq 3) { exit 3 } # the signature does not hold; it has said so
    if ($LASTEXITCODE -ne 0) {
        Stop-Install @('Nothing was changed. Fetch the bundle again, or build it again.')
    }
    $Carried = @($Checked[0].Split(' ') | Where-Object { $_ })
    $Chosen = if ($Carried) { Select-Python $Carried } else { $First }
    if (-not $Chosen) {
        Stop-Install @(
            "This bundle carries wheels for Python $Carried; here is: $Usable",
            'Nothing was changed. Install one of these, or take a bundle made with --no-wheels.')
    }

    Write-Host "Installing with $Chosen"
    & $Chosen -I (Save-Program 'START') (Join-Path $Folder $Checked[1]) $Folder @Flags
    if ($LASTEXITCODE -ne 0) { exit $LASTEXITCODE }
    if (-not $DryRun) {
        $Program = Get-Installed (Join-Path $Data 'runtime')
        if ($Prefix) {
            Write-Host "Set AGENTLAS_HOME=$Prefix for yourself and for your assistants: without it they look in $HOME\.agentlas."
        }
        Write-Host "In a project: $Program init; $Program index"
        Write-Host "To undo it:   $Program uninstall --purge"
    }
}
finally {
    $env:AGENTLAS_HOME = $Before
    Remove-Item -LiteralPath $Scratch -Recurse -Force -ErrorAction SilentlyContinue
}
