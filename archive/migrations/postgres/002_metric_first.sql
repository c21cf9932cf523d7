-- +goose Up
-- series was stream<<16 | metric and becomes metric<<32 | stream, so that a look at all pairs reads neighbours. By way of
-- negative numbers, since a new key may be another row's old one.
UPDATE rollup SET series = -1 - (((series & 65535) << 32) | (series >> 16));
UPDATE rollup SET series = -1 - series;
