-- Temporary passwords, with which the user must choose another password at the first sign-in.

alter table account add column password_is_temporary boolean not null default false;

-- No response shows the column.
create or replace trigger account_revision before update on account
  for each row execute function raise_revision('totp_last_step', 'password_hash', 'password_is_temporary');
