-- Rows named images by URL, and a change of the base URL broke them all. The columns now contain keys of the file store, and
-- responses contain the URL at the current base URL. A column keeps its name, so that the previous release can use it while
-- servers are updated; it shows no images during that time.

create or replace function image_key(url text) returns text language sql immutable as $$
  select regexp_replace(url, '^https?://.*/data/(?=[^/]+/(?:images/)?[0-9a-f]{40}(?:_[0-9]+)?[.][a-z]+$)', 'pictures/')
$$;

-- Base URLs at which texts can name files of this instance. If the base URL has changed, the start of a server replaces the
-- previous ones in texts.
create table if not exists text_base_url (
  url text primary key
);
insert into text_base_url (url)
select distinct left(url, length(url) - length(image_key(url)) + length('pictures') - length('/data'))
from (
  select url from image
  union select raw_url from gallery_item
  union select raw_icon_url from project
  union select raw_icon_url from organization
  union select raw_icon_url from collection
  union select raw_avatar_url from account
) stored
where url is distinct from image_key(url)
on conflict do nothing;

update account set avatar_url = image_key(avatar_url), raw_avatar_url = image_key(raw_avatar_url)
where (avatar_url, raw_avatar_url) is distinct from (image_key(avatar_url), image_key(raw_avatar_url));
update instance_settings set mark_url = image_key(mark_url), raw_mark_url = image_key(raw_mark_url)
where (mark_url, raw_mark_url) is distinct from (image_key(mark_url), image_key(raw_mark_url));
update organization set icon_url = image_key(icon_url), raw_icon_url = image_key(raw_icon_url)
where (icon_url, raw_icon_url) is distinct from (image_key(icon_url), image_key(raw_icon_url));
update project set icon_url = image_key(icon_url), raw_icon_url = image_key(raw_icon_url)
where (icon_url, raw_icon_url) is distinct from (image_key(icon_url), image_key(raw_icon_url));
update collection set icon_url = image_key(icon_url), raw_icon_url = image_key(raw_icon_url)
where (icon_url, raw_icon_url) is distinct from (image_key(icon_url), image_key(raw_icon_url));
update oauth_client set icon_url = image_key(icon_url), raw_icon_url = image_key(raw_icon_url)
where (icon_url, raw_icon_url) is distinct from (image_key(icon_url), image_key(raw_icon_url));
update gallery_item set url = image_key(url), raw_url = image_key(raw_url)
where (url, raw_url) is distinct from (image_key(url), image_key(raw_url));

-- The key of an image in a text is in `storage_key`. The next release drops this column.
alter table image alter column url drop not null;
update image set url = null where url is not null;

drop function image_key(text);

select pg_notify('depot_changes', '["project","organization","user","settings"]');
