-- Stores the versions of the pages Rules, Terms, Privacy, Imprint and Contact, and the operator's links in the footer.

create table page_version (
  kind text not null,
  number integer not null,
  -- Empty if the version removes the page.
  text text not null,
  published timestamptz not null,
  published_by text collate "C" references account on delete set null,
  primary key (kind, number),
  constraint page_version_kind_check check (kind in ('rules', 'terms', 'privacy', 'imprint', 'contact')),
  constraint page_version_number_check check (number >= 1),
  constraint page_version_text_check check (char_length(text) <= 65536)
);
create index page_version_published_by_idx on page_version (published_by);

insert into page_version (kind, number, text, published)
select 'rules', 1, rules, changed from instance_settings where rules ~ '\S';

-- The setting has the text of the newest version of the rules.
alter table instance_settings drop constraint instance_settings_rules_check;
alter table instance_settings add constraint instance_settings_rules_check check (char_length(rules) <= 65536);
alter table instance_settings add column footer_links jsonb;

select pg_notify('depot_changes', '["settings"]');
