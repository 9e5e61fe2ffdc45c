-- Secrets that every process of this Depot shares, made by whichever needs one first and never changed. They are worth
-- nothing outside: whoever can read them here can read everything they protect.

create table instance_secret (
  name text primary key,
  secret bytea not null,
  created timestamptz not null default now(),
  constraint instance_secret_length_check check (length(secret) = 32)
);
