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

-- Whether a closed report led to action, as the moderator decided when they closed it. Null for reports that were closed before.
alter table report add column outcome text constraint report_outcome_check check (outcome in ('action', 'no_action'));
alter table report add column closed_at timestamptz;
-- All reports about an item, open and closed.
create index report_item_idx on report (item_type, item_id, created);

-- Time of the oldest message of a member or reporter that no moderator has answered; null if there is none. Writing a message
-- locks the row of the thread in any case, so the column needs no statement of its own.
alter table thread add column unanswered_since timestamptz;
create index thread_unanswered_idx on thread (unanswered_since, id) where unanswered_since is not null;

update thread set unanswered_since = open.since
from (
  select message.thread_id, min(message.created) as since
  from thread_message message
  where message.body ->> 'type' = 'text' and not message.hide_identity
    and not exists (
      select 1 from thread_message answer
      where answer.thread_id = message.thread_id and answer.created > message.created and answer.hide_identity
        and (answer.body ->> 'private') is distinct from 'true')
  group by message.thread_id
) open
where thread.id = open.thread_id;
