-- Accounts: the language that the user reads, null if it is unknown.

alter table account add column language text
  check (language ~ '^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$' and char_length(language) <= 35);
