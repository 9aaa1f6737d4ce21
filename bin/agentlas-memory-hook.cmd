@setlocal EnableExtensions DisableDelayedExpansion
@rem runtime.txt beside this folder names the version that serves, its pyvenv.cfg the interpreter.
@rem Whatever is missing: exit code 0 and not a word. Each path is expanded once and in quotes, and
@rem there is no `call`: so a %% or & in a folder's name stays what it is.
@set "id="
@set "base="
@set "python="
@set "errors=2>nul"
@if defined AGENTLAS_MEMORY_HOOK_DEBUG set "errors="
@if exist "%~dp0..\runtime.txt" for /f "usebackq delims=" %%i in ("%~dp0..\runtime.txt") do @set "id=%%i"
@if not defined id exit /b 0
@set "runtime=%~dp0..\..\%id%"
@rem The interpreter itself, as venv's python.exe starts it as a second process. A home that this
@rem code page cannot say does not exist here: then it is venv's.
@if exist "%runtime%\pyvenv.cfg" for /f "usebackq tokens=1* delims== " %%a in ("%runtime%\pyvenv.cfg") do @if "%%a"=="home" set "base=%%b"
@if defined base if exist "%base%\python.exe" set "python=%base%\python.exe"
@if not defined python if exist "%runtime%\Scripts\python.exe" set "python=%runtime%\Scripts\python.exe"
@if not defined python exit /b 0
@if not exist "%runtime%\Scripts\agentlas-memory-hook" exit /b 0
@"%python%" -I -S "%runtime%\Scripts\agentlas-memory-hook" %* %errors%
@exit /b 0
