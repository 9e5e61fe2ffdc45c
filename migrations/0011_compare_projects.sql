-- What makes two projects similar: the letters and the words of their names, and their icons. A row per project, so that
-- comparing reads small rows and no descriptions.

-- Lower case without accents; letters that look alike become the same letter. The words remain separated by spaces.
create function folded_name(name text) returns text language sql immutable parallel safe
set search_path = pg_catalog as $$
  select replace(replace(translate(
    regexp_replace(regexp_replace(lower(normalize(name, NFKD)), '[\u0300-\u036f]', '', 'g'),
      '[\s\u0021-\u0023\u0025-\u002f\u003a-\u003f\u005b-\u0060\u007b\u007d\u007e\u2000-\u206f\u3000-\u303f]+', ' ', 'g'),
    '013457|@$авеёкмнорстухіјѕԁԛԝɑοαερικντυχɩıøđłß',
    'oleastlasabeekmhopctyxijsdqwaoaepikvtuxiiodls'), 'rn', 'm'), 'vv', 'w')
$$;

-- The letters of a name, and these letters without one of them: names that share a key differ in at most two letters.
create function name_letters(name text) returns text[] language sql immutable parallel safe
set search_path = public, pg_catalog as $$
  select coalesce(array_agg(distinct case at when 0 then letters else left(letters, at - 1) || substr(letters, at + 1) end), '{}')
  from (select replace(folded_name(name), ' ', '') as letters) folded,
    generate_series(0, case when length(letters) >= 4 then least(length(letters), 64) else 0 end) at
  where letters <> ''
$$;

-- The words of a name without the words that say nothing about it, and without a plural s. `rebom` is the folded form of
-- `reborn`.
create function name_words(name text) returns text[] language sql immutable parallel safe
set search_path = public, pg_catalog as $$
  select coalesce(array_agg(distinct case when length(word) > 3 then rtrim(word, 's') else word end), '{}')
  from regexp_split_to_table(folded_name(name), ' ') word
  where word <> '' and word <> all (array['a', 'an', 'and', 'by', 'for', 'in', 'of', 'on', 'the', 'to', 'with', 'mod', 'mods',
    'pack', 'plugin', 'addon', 'edition', 'continued', 'fork', 'port', 'rebom', 'redux', 'remastered', 'unofficial', 'updated'])
$$;

create table project_likeness (
  project_id text collate "C" primary key references project (id) on delete cascade,
  letters text[] not null,
  words text[] not null,
  -- Perceptual hash of the icon: similar images differ in few bits. Null without an icon, and for icons that are too plain.
  icon bit(64)
);
create index project_likeness_letters_idx on project_likeness using gin (letters);
create index project_likeness_words_idx on project_likeness using gin (words);
create index project_likeness_icon_idx on project_likeness (icon, project_id) where icon is not null;

-- A trigger, so that the keys fit the name whatever writes it.
create function keep_likeness() returns trigger language plpgsql as $$
begin
  insert into project_likeness (project_id, letters, words) values (new.id, name_letters(new.name), name_words(new.name))
    on conflict (project_id) do update set letters = excluded.letters, words = excluded.words;
  return null;
end $$;
create trigger project_likeness_kept after insert on project for each row execute function keep_likeness();
create trigger project_likeness_renamed after update of name on project for each row
  when (old.name <> new.name) execute function keep_likeness();

-- The type that the creator of a draft has chosen. It counts while the project has no version.
alter table project add column draft_type text;
-- Whether somebody has chosen the licence. Until then, the draft has all rights reserved.
alter table project add column license_decided boolean not null default true;
