"""Makes the databases that the tests of this package read, with SQLite itself.

python3 make.py FOLDER
"""
import os
import shutil
import sqlite3
import sys

out = sys.argv[1]


def fresh(name):
    path = os.path.join(out, name)
    for end in ("", "-wal", "-shm", "-journal"):
        if os.path.exists(path + end):
            os.remove(path + end)
    return path


def many():
    """Several levels of pages, long values, all kinds of values, a column that came later."""
    db = sqlite3.connect(fresh("many.db"))
    db.execute("pragma page_size = 512")
    db.execute('create table "it""s" (id integer primary key, name text not null, -- a remark, with a comma\n size real, data blob, x int default (1+2))')
    for i in range(150):
        db.execute('insert into "it""s" values (?, ?, ?, ?, ?)', (i * 3 - 30, "name %d" % i, i / 4, bytes([i % 256]) * (i * 7 % 900), None if i % 5 else i << (i % 50)))
    db.execute("create table plain (a, b, primary key (a, b))")
    db.execute("insert into plain values ('x', 1), ('y', -1), ('\u00fc\u4e16', 9223372036854775807)")
    db.execute("alter table plain add column later text")
    db.execute("create table made (a integer, twice int generated always as (a * 2) virtual, b text)")
    db.execute("insert into made (a, b) values (4, 'four')")
    db.execute("create table keyed (k text primary key, v text) without rowid")
    db.execute("insert into keyed values ('a', 'b')")
    db.commit()
    db.close()


def logged():
    """A write-ahead log that was not taken into the file yet."""
    path = fresh("work.db")
    db = sqlite3.connect(path)
    db.execute("pragma page_size = 512")
    db.execute("pragma journal_mode = wal")
    db.execute("pragma wal_autocheckpoint = 0")
    db.execute("create table t (id integer primary key, v text)")
    db.executemany("insert into t values (?, ?)", [(i, "before %d" % i) for i in range(50)])
    db.commit()
    db.execute("pragma wal_checkpoint(truncate)")
    db.execute("update t set v = 'changed' where id = 7")
    db.executemany("insert into t values (?, ?)", [(i, "after %d" % i) for i in range(50, 90)])
    db.commit()
    to = fresh("logged.db")
    for end in ("", "-wal"):
        shutil.copy(path + end, to + end)
    db.close()
    fresh("work.db")


many()
logged()
