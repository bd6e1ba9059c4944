; The installer for Windows: for one person, without administrator's rights.
; build/windows/pack.sh calls makensis with VERSION (1.2.3), NUMBERS (1.2.3.0),
; FILES (a folder of what is installed) and OUT.
Unicode true
Target amd64-unicode
SetCompressor /SOLID lzma
ManifestDPIAware true
ManifestSupportedOS Win10

!include "MUI2.nsh"
!include "WinVer.nsh"
!include "FileFunc.nsh"

Name "Hearth"
OutFile "${OUT}"
RequestExecutionLevel user
InstallDir "$LOCALAPPDATA\Programs\Hearth"
InstallDirRegKey HKCU "Software\Hearth" "InstallDir"
BrandingText "Hearth ${VERSION}"
VIProductVersion "${NUMBERS}"
VIAddVersionKey "ProductName" "Hearth"
VIAddVersionKey "FileDescription" "Hearth's installer"
VIAddVersionKey "FileVersion" "${NUMBERS}"
VIAddVersionKey "ProductVersion" "${VERSION}"
VIAddVersionKey "LegalCopyright" "Hearth's authors"

!define UNINSTALL "Software\Microsoft\Windows\CurrentVersion\Uninstall\Hearth"
!define MUI_ICON "${ICON}"
!define MUI_UNICON "${ICON}"
!define MUI_FINISHPAGE_RUN "$INSTDIR\hearth-tray.exe"
!define MUI_FINISHPAGE_RUN_PARAMETERS "-open"
!define MUI_FINISHPAGE_RUN_TEXT "Start Hearth"
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"
!insertmacro MUI_LANGUAGE "German"
!insertmacro MUI_LANGUAGE "SimpChinese"

; A running program can't be replaced on Windows. The window and the icon are
; asked to close, then ended; the gateway that the icon had started ends with it.
!macro EndRunning
  nsExec::Exec 'taskkill /IM hearth-window.exe'
  nsExec::Exec 'taskkill /IM hearth-tray.exe'
  Sleep 1500
  nsExec::Exec 'taskkill /F /IM hearth-window.exe'
  nsExec::Exec 'taskkill /F /IM hearth-tray.exe'
  nsExec::Exec 'taskkill /F /IM hearth.exe'
!macroend

Function .onInit
  ${IfNot} ${AtLeastWin10}
    IfSilent +2
      MessageBox MB_OK|MB_ICONSTOP "Hearth needs Windows 10 or newer."
    SetErrorLevel 64
    Quit
  ${EndIf}
FunctionEnd

Section
  IfFileExists "$INSTDIR\hearth.exe" 0 fresh
    !insertmacro EndRunning
  fresh:
  ; Versions of an update are older than what is installed now.
  RMDir /r "$INSTDIR\hearth-versions"
  SetOutPath "$INSTDIR"
  SetOverwrite on
  ClearErrors
  File "${FILES}\hearth.exe"
  File "${FILES}\hearth-channels.exe"
  File "${FILES}\hearth-tray.exe"
  File "${FILES}\hearth-window.exe"
  File "${FILES}\LICENSE"
  File "${FILES}\README.md"
  SetOutPath "$INSTDIR\docs"
  File "${FILES}\docs\*.md"
  SetOutPath "$INSTDIR"
  IfErrors 0 written
    IfSilent +2
      MessageBox MB_OK|MB_ICONSTOP "Some files could not be written to $INSTDIR. Close Hearth and start this installer again."
    SetErrorLevel 2
    Quit
  written:
  WriteUninstaller "$INSTDIR\uninstall.exe"

  CreateShortCut "$SMPROGRAMS\Hearth.lnk" "$INSTDIR\hearth-tray.exe" "-open" "$INSTDIR\hearth-window.exe" 0

  ; hearth:// links
  WriteRegStr HKCU "Software\Classes\hearth" "" "URL:Hearth"
  WriteRegStr HKCU "Software\Classes\hearth" "URL Protocol" ""
  WriteRegStr HKCU "Software\Classes\hearth\DefaultIcon" "" "$INSTDIR\hearth-window.exe,0"
  WriteRegStr HKCU "Software\Classes\hearth\shell\open\command" "" '"$INSTDIR\hearth-window.exe" "%1"'

  ; "hearth" in Start > Run
  WriteRegStr HKCU "Software\Microsoft\Windows\CurrentVersion\App Paths\hearth.exe" "" "$INSTDIR\hearth.exe"

  WriteRegStr HKCU "Software\Hearth" "InstallDir" "$INSTDIR"
  WriteRegStr HKCU "${UNINSTALL}" "DisplayName" "Hearth"
  WriteRegStr HKCU "${UNINSTALL}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKCU "${UNINSTALL}" "Publisher" "Hearth"
  WriteRegStr HKCU "${UNINSTALL}" "DisplayIcon" "$INSTDIR\hearth-window.exe"
  WriteRegStr HKCU "${UNINSTALL}" "InstallLocation" "$INSTDIR"
  WriteRegStr HKCU "${UNINSTALL}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegStr HKCU "${UNINSTALL}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
  WriteRegDWORD HKCU "${UNINSTALL}" "NoModify" 1
  WriteRegDWORD HKCU "${UNINSTALL}" "NoRepair" 1
  ${GetSize} "$INSTDIR" "/S=0K" $0 $1 $2
  WriteRegDWORD HKCU "${UNINSTALL}" "EstimatedSize" $0
SectionEnd

; Conversations, settings and keys stay: they are the person's, and another
; installation finds them again. hearth doctor says where they lie.
Section "Uninstall"
  !insertmacro EndRunning
  nsExec::Exec '"$INSTDIR\hearth.exe" service remove'
  Delete "$INSTDIR\hearth.exe"
  Delete "$INSTDIR\hearth-channels.exe"
  Delete "$INSTDIR\hearth-tray.exe"
  Delete "$INSTDIR\hearth-window.exe"
  RMDir /r "$INSTDIR\hearth-versions"
  Delete "$INSTDIR\LICENSE"
  Delete "$INSTDIR\docs\*.md"
  RMDir "$INSTDIR\docs"
  Delete "$INSTDIR\README.md"
  Delete "$INSTDIR\uninstall.exe"
  RMDir "$INSTDIR"
  Delete "$SMPROGRAMS\Hearth.lnk"
  DeleteRegKey HKCU "Software\Classes\hearth"
  DeleteRegKey HKCU "Software\Microsoft\Windows\CurrentVersion\App Paths\hearth.exe"
  DeleteRegValue HKCU "Software\Microsoft\Windows\CurrentVersion\Run" "${LOGIN}"
  DeleteRegKey HKCU "${UNINSTALL}"
  DeleteRegKey HKCU "Software\Hearth"
SectionEnd
