-- The domain of an email address, with which moderators find accounts together.
create index if not exists account_email_domain_idx on account (lower(split_part(email, '@', 2))) where email is not null;
