-- The keys with which the instance signs what it sends. Receivers recognise the instance by them. A key that was replaced
-- stays valid for a while, and its signature of the next key lets receivers follow the change.
create table instance_key (
  id bigint generated always as identity primary key,
  public_key bytea not null,
  -- Encrypted.
  private_key bytea not null,
  since timestamptz not null,
  -- Null for the current key.
  until timestamptz,
  -- By the key before; null for the first key, or if the key before was lost.
  signature bytea,
  constraint instance_key_public_key_key unique (public_key),
  constraint instance_key_public_key_check check (length(public_key) = 32),
  constraint instance_key_signature_check check (length(signature) = 64),
  constraint instance_key_until_check check (until > since)
);
create unique index instance_key_current_key on instance_key ((until is null)) where until is null;
