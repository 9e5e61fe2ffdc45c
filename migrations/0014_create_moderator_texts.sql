-- Texts that moderators insert into their messages. They belong to the instance, not to a moderator.
create table saved_reply (
  id text collate "C" primary key,
  topic text not null,
  language text not null,
  title text not null,
  body text not null,
  position integer not null,
  created timestamptz not null default now(),
  updated timestamptz not null default now(),
  constraint saved_reply_topic_check check (char_length(topic) between 1 and 64),
  constraint saved_reply_language_check check (char_length(language) between 2 and 35),
  constraint saved_reply_title_check check (char_length(title) between 1 and 128)
);
create index saved_reply_position_idx on saved_reply (position, id);

-- The notes of all moderators about a user, as one text. Only moderators read it.
create table user_note (
  account_id text collate "C" primary key references account (id) on delete cascade,
  body text not null,
  revision integer not null default 1,
  -- Null after the account of the moderator was deleted.
  author_id text collate "C" references account (id) on delete set null,
  updated timestamptz not null default now()
);
create index user_note_author_id_idx on user_note (author_id);
