-- Appeals against decisions of moderators. One decision can be appealed once, and a project has one open appeal.
create table project_appeal (
  -- The status change that rejected or withheld the project. A decision that is undone takes its appeal with it.
  decision_id text collate "C" primary key references thread_message on delete cascade,
  project_id text collate "C" not null references project on delete cascade,
  -- The text of the author.
  message_id text collate "C" not null references thread_message on delete cascade,
  created timestamptz not null,
  -- `withdrawn`: the author submitted the project again before moderators decided.
  outcome text check (outcome in ('accepted', 'rejected', 'withdrawn')),
  closed_at timestamptz check ((closed_at is null) = (outcome is null)),
  -- The message or status change that answers the appeal. Undoing a decision opens the appeal again.
  result_id text collate "C" references thread_message on delete set null
);
create unique index project_appeal_open_key on project_appeal (project_id) where outcome is null;
create index project_appeal_project_id_idx on project_appeal (project_id);
create unique index project_appeal_message_key on project_appeal (message_id);
create unique index project_appeal_result_key on project_appeal (result_id) where result_id is not null;

-- Moderators and operators, who are few among all accounts.
create index if not exists account_staff_idx on account (role, id) where role <> 'developer';
