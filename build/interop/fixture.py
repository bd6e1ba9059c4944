"""Packs a folder that home.mjs made for the tests of imports: without the keys of
the installation, and with the database of its state as it is after a clean end.

python3 fixture.py FOLDER OUT.zip
"""
import os
import sqlite3
import sys
import zipfile

folder, out = sys.argv[1:]
LEFT = {"media", "plugin-skills", "logs", "identity", "completions", "tasks"}
state = os.path.join(folder, "state", "openclaw.sqlite")
if os.path.exists(state):
    db = sqlite3.connect(state)
    for table in ("device_identities", "config_revision_keys", "audit_identity_keys", "device_auth_tokens"):
        if db.execute("select 1 from sqlite_master where name = ?", (table,)).fetchone():
            db.execute("delete from " + table)
    db.commit()
    db.execute("pragma journal_mode = delete")
    db.execute("vacuum")
    db.close()
with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
    for at, dirs, files in os.walk(folder):
        dirs[:] = sorted(d for d in dirs if d not in LEFT)
        for name in sorted(files):
            path = os.path.join(at, name)
            rel = os.path.relpath(path, folder)
            if name.endswith("-shm") or name.endswith("-wal") and not os.path.getsize(path) or "quarantine" in name or name.endswith(".key"):
                continue
            z.writestr(zipfile.ZipInfo(rel, (2026, 11, 23, 0, 0, 0)), open(path, "rb").read(), zipfile.ZIP_DEFLATED)
