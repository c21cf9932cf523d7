-- +goose Up
-- From now on rollup has rows across streams, of levels 4 to 6. across: since when they hold everything, in seconds since
-- 1970; of what is older, rows of single streams are read.
INSERT INTO state SELECT 'across', CASE WHEN EXISTS (SELECT 1 FROM stream)
  THEN (max(CAST(strftime('%s', 'now') AS INTEGER), (SELECT coalesce(max(start), 0) FROM rollup WHERE level = 0)) / 86400 + 1) * 86400
  ELSE 0 END;
