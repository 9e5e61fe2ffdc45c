-- Made by `npm run gen` from the migrations; do not edit.

create table account (
  id text collate "C" not null,
  username text not null,
  email text,
  email_verified boolean default false not null,
  password_hash text,
  bio text,
  avatar_url text,
  raw_avatar_url text,
  role text default 'developer'::text not null,
  badges integer default 0 not null,
  allow_friend_requests boolean default true not null,
  payout_handle text,
  totp_secret text,
  totp_last_step bigint default 0 not null,
  code_host_id text,
  suspended_at timestamp with time zone,
  suspended_until timestamp with time zone,
  suspension_reason text,
  deletion_due timestamp with time zone,
  created timestamp with time zone default now() not null,
  revision bigint default 1 not null,
  service_of text collate "C",
  password_is_temporary boolean default false not null,
  awaits_approval boolean default false not null,
  language text,
  passkey_count smallint default 0 not null,
  sign_in_providers text[] default '{}'::text[] not null,
  constraint account_bio_check CHECK ((char_length(bio) <= 160)),
  constraint account_language_check CHECK (((language ~ '^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$'::text) AND (char_length(language) <= 35))),
  constraint account_passkey_count_check CHECK (((passkey_count >= 0) AND (passkey_count <= 20))),
  constraint account_pkey PRIMARY KEY (id),
  constraint account_placeholder_check CHECK (((id = 'deleted0'::text) = (lower(username) = 'deleted-user'::text))),
  constraint account_role_check CHECK ((role = ANY (ARRAY['developer'::text, 'moderator'::text, 'admin'::text]))),
  constraint account_service_check CHECK (((service_of IS NULL) OR ((email IS NULL) AND (password_hash IS NULL) AND (code_host_id IS NULL) AND (role = 'developer'::text)))),
  constraint account_service_of_fkey FOREIGN KEY (service_of) REFERENCES organization(id) ON DELETE SET NULL,
  constraint account_suspension_check CHECK ((((suspended_at IS NULL) = (suspension_reason IS NULL)) AND ((suspended_at IS NOT NULL) OR (suspended_until IS NULL)) AND ((char_length(suspension_reason) >= 1) AND (char_length(suspension_reason) <= 1000)))),
  constraint account_username_check CHECK (((char_length(username) >= 1) AND (char_length(username) <= 39)))
);

create table account_cleanup (
  id text collate "C" not null,
  action text not null,
  created timestamp with time zone not null,
  actor_id text collate "C",
  constraint account_cleanup_action_check CHECK ((action = ANY (ARRAY['spam'::text, 'remove_content'::text, 'suspend'::text, 'delete'::text]))),
  constraint account_cleanup_actor_id_fkey FOREIGN KEY (actor_id) REFERENCES account(id) ON DELETE SET NULL,
  constraint account_cleanup_id_check CHECK ((id ~ '^[0-9A-Za-z]{8}$'::text)),
  constraint account_cleanup_pkey PRIMARY KEY (id)
);

create table account_deletion (
  account_id text collate "C" not null,
  requested timestamp with time zone default now() not null,
  by_owner boolean not null,
  handed_over jsonb not null,
  constraint account_deletion_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint account_deletion_pkey PRIMARY KEY (account_id)
);

create table account_flow (
  token_hash bytea not null,
  kind text not null,
  account_id text collate "C",
  data jsonb default '{}'::jsonb not null,
  expires timestamp with time zone not null,
  constraint account_flow_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint account_flow_kind_check CHECK ((kind = ANY (ARRAY['verify_email'::text, 'reset_password'::text, 'sign_in_second_factor'::text, 'set_up_totp'::text, 'undo_email_change'::text, 'use_passkey'::text, 'add_passkey'::text, 'provider_sign_in'::text, 'provider_sign_up'::text]))),
  constraint account_flow_pkey PRIMARY KEY (token_hash)
);

create table account_origin (
  account_id text collate "C" not null,
  event text not null,
  at timestamp with time zone not null,
  address_range cidr not null,
  user_agent text not null,
  constraint account_origin_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint account_origin_event_check CHECK ((event = ANY (ARRAY['sign_up'::text, 'sign_in'::text]))),
  constraint account_origin_pkey PRIMARY KEY (account_id, event)
);

create table account_provider (
  provider text not null,
  subject text not null,
  account_id text collate "C" not null,
  name text not null,
  created timestamp with time zone default now() not null,
  last_used timestamp with time zone,
  constraint account_provider_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint account_provider_account_key UNIQUE (account_id, provider),
  constraint account_provider_name_check CHECK ((length(name) <= 256)),
  constraint account_provider_pkey PRIMARY KEY (provider, subject)
);

create table advisory (
  id text collate "C" not null,
  project_id text collate "C",
  author_id text collate "C",
  status text default 'review'::text not null,
  summary text not null,
  details text not null,
  aliases text[] default '{}'::text[] not null,
  severity jsonb default '[]'::jsonb not null,
  reference_list jsonb default '[]'::jsonb not null,
  withdraws boolean default false not null,
  revision bigint default 1 not null,
  created timestamp with time zone not null,
  modified timestamp with time zone not null,
  published timestamp with time zone,
  retracted timestamp with time zone,
  constraint advisory_author_id_fkey FOREIGN KEY (author_id) REFERENCES account(id) ON DELETE SET NULL,
  constraint advisory_pkey PRIMARY KEY (id),
  constraint advisory_status_check CHECK ((status = ANY (ARRAY['review'::text, 'published'::text, 'rejected'::text, 'withdrawn'::text]))),
  constraint advisory_summary_check CHECK ((length(summary) <= 500))
);

create table advisory_hash (
  advisory_id text collate "C" not null,
  hash text collate "C" not null,
  constraint advisory_hash_advisory_id_fkey FOREIGN KEY (advisory_id) REFERENCES advisory(id) ON DELETE CASCADE,
  constraint advisory_hash_pkey PRIMARY KEY (advisory_id, hash)
);

create table advisory_number (
  year integer not null,
  last integer not null,
  constraint advisory_number_pkey PRIMARY KEY (year)
);

create table advisory_version (
  advisory_id text collate "C" not null,
  version_id text collate "C" not null,
  name text not null,
  constraint advisory_version_advisory_id_fkey FOREIGN KEY (advisory_id) REFERENCES advisory(id) ON DELETE CASCADE,
  constraint advisory_version_pkey PRIMARY KEY (advisory_id, version_id)
);

create table affiliate_code (
  id text collate "C" not null,
  account_id text collate "C" not null,
  created_by text collate "C",
  source_name text not null,
  share numeric(7,6),
  created timestamp with time zone default now() not null,
  constraint affiliate_code_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint affiliate_code_created_by_fkey FOREIGN KEY (created_by) REFERENCES account(id) ON DELETE SET NULL,
  constraint affiliate_code_pkey PRIMARY KEY (id),
  constraint affiliate_code_share_check CHECK (((share >= (0)::numeric) AND (share <= (1)::numeric))),
  constraint affiliate_code_source_name_check CHECK (((char_length(source_name) >= 1) AND (char_length(source_name) <= 255)))
);

create table affiliate_conversion (
  id bigint generated always as identity not null,
  external_id text not null,
  affiliate_code_id text collate "C" not null,
  account_id text collate "C",
  converted timestamp with time zone not null,
  amount numeric(20,8) not null,
  revenue numeric(20,8) not null,
  available timestamp with time zone not null,
  created timestamp with time zone default now() not null,
  constraint affiliate_conversion_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE SET NULL,
  constraint affiliate_conversion_amount_check CHECK (((amount >= (0)::numeric) AND ((revenue >= (0)::numeric) AND (revenue <= amount)))),
  constraint affiliate_conversion_external_id_check CHECK (((char_length(external_id) >= 1) AND (char_length(external_id) <= 255))),
  constraint affiliate_conversion_external_id_key UNIQUE (external_id),
  constraint affiliate_conversion_pkey PRIMARY KEY (id)
);

create table attention_dismissal (
  account_id text collate "C" not null,
  kind text not null,
  project_id text collate "C" not null,
  until timestamp with time zone not null,
  constraint attention_dismissal_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint attention_dismissal_pkey PRIMARY KEY (account_id, kind, project_id),
  constraint attention_dismissal_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE
);

create table audit_entry (
  id bigint generated always as identity not null,
  at timestamp with time zone default now() not null,
  action text not null,
  actor_kind text not null,
  actor_id text collate "C",
  token_kind text,
  token_id text collate "C",
  address text,
  subject_kind text,
  subject_id text collate "C",
  account_ids text[] default '{}'::text[] not null,
  details jsonb default '{}'::jsonb not null,
  constraint audit_entry_actor_check CHECK (((actor_kind = ANY (ARRAY['account'::text, 'operator'::text, 'command'::text, 'system'::text, 'anonymous'::text])) AND ((actor_kind = 'account'::text) = (actor_id IS NOT NULL)))),
  constraint audit_entry_details_check CHECK ((octet_length((details)::text) <= 16384)),
  constraint audit_entry_pkey PRIMARY KEY (id),
  constraint audit_entry_subject_check CHECK ((num_nulls(subject_kind, subject_id) = ANY (ARRAY[0, 2])))
);

create table author (
  account_id text collate "C" not null,
  teams integer not null,
  constraint author_pkey PRIMARY KEY (account_id)
);

create table backup_code (
  account_id text collate "C" not null,
  code_hash bytea not null,
  constraint backup_code_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint backup_code_pkey PRIMARY KEY (account_id, code_hash)
);

create table blocked_content (
  sha512 text collate "C" not null,
  takedown_id text collate "C" not null,
  filename text not null,
  size_bytes bigint not null,
  created timestamp with time zone not null,
  constraint blocked_content_pkey PRIMARY KEY (sha512),
  constraint blocked_content_sha512_check CHECK ((sha512 ~ '^[0-9a-f]{128}$'::text)),
  constraint blocked_content_takedown_id_fkey FOREIGN KEY (takedown_id) REFERENCES takedown(id) ON DELETE CASCADE
);

create table blocked_external_image (
  id text collate "C" not null,
  url text not null,
  created timestamp with time zone not null,
  blocked_by_id text collate "C",
  takedown_id text collate "C",
  constraint blocked_external_image_blocked_by_id_fkey FOREIGN KEY (blocked_by_id) REFERENCES account(id) ON DELETE SET NULL,
  constraint blocked_external_image_id_check CHECK ((id ~ '^[0-9a-f]{64}$'::text)),
  constraint blocked_external_image_pkey PRIMARY KEY (id),
  constraint blocked_external_image_takedown_id_fkey FOREIGN KEY (takedown_id) REFERENCES takedown(id) ON DELETE CASCADE,
  constraint blocked_external_image_url_check CHECK ((char_length(url) <= 2048))
);

create table catalogue_change (
  id bigint generated always as identity not null,
  projects bigint default 0 not null,
  versions bigint default 0 not null,
  files bigint default 0 not null,
  authors bigint default 0 not null,
  constraint catalogue_change_pkey PRIMARY KEY (id)
);

create unlogged table change_log (
  transaction xid8 default pg_current_xact_id() not null,
  id text collate "C" not null,
  changes jsonb not null
);

create table cleaned_account (
  account_id text collate "C" not null,
  cleanup_id text collate "C" not null,
  bio text,
  avatar_url text,
  raw_avatar_url text,
  suspended_at timestamp with time zone,
  suspended_until timestamp with time zone,
  suspension_reason text,
  content jsonb not null,
  constraint cleaned_account_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint cleaned_account_cleanup_id_fkey FOREIGN KEY (cleanup_id) REFERENCES account_cleanup(id) ON DELETE CASCADE,
  constraint cleaned_account_pkey PRIMARY KEY (account_id)
);

create table collection (
  id text collate "C" not null,
  account_id text collate "C" not null,
  name text not null,
  description text,
  status text default 'listed'::text not null,
  icon_url text,
  raw_icon_url text,
  color integer,
  created timestamp with time zone default now() not null,
  updated timestamp with time zone default now() not null,
  revision bigint default 1 not null,
  constraint collection_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint collection_description_check CHECK (((char_length(description) >= 3) AND (char_length(description) <= 256))),
  constraint collection_name_check CHECK (((char_length(name) >= 3) AND (char_length(name) <= 64))),
  constraint collection_pkey PRIMARY KEY (id),
  constraint collection_status_check CHECK ((status = ANY (ARRAY['listed'::text, 'unlisted'::text, 'private'::text, 'rejected'::text])))
);

create table collection_project (
  collection_id text collate "C" not null,
  project_id text collate "C" not null,
  position integer not null,
  constraint collection_project_collection_id_fkey FOREIGN KEY (collection_id) REFERENCES collection(id) ON DELETE CASCADE,
  constraint collection_project_pkey PRIMARY KEY (collection_id, project_id),
  constraint collection_project_position_check CHECK ((("position" >= 0) AND ("position" <= 1023))),
  constraint collection_project_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE
);

create table demo_catalogue (
  only_row boolean default true not null,
  until timestamp with time zone not null,
  mark text not null,
  constraint demo_catalogue_only_row_check CHECK (only_row),
  constraint demo_catalogue_pkey PRIMARY KEY (only_row)
);

create table demo_item (
  kind text not null,
  id text collate "C" not null,
  events_batch text,
  has_events boolean default false not null,
  constraint demo_item_kind_check CHECK ((kind = ANY (ARRAY['account'::text, 'organization'::text, 'project'::text, 'collection'::text, 'report'::text]))),
  constraint demo_item_pkey PRIMARY KEY (kind, id)
);

create table dependency (
  id bigint generated always as identity not null,
  dependent_id text collate "C" not null,
  version_id text collate "C",
  project_id text collate "C",
  file_name text,
  dependency_type text not null,
  declared_id text collate "C",
  constraint dependency_dependent_id_fkey FOREIGN KEY (dependent_id) REFERENCES version(id) ON DELETE CASCADE,
  constraint dependency_pkey PRIMARY KEY (id),
  constraint dependency_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE,
  constraint dependency_self_check CHECK ((version_id <> dependent_id)),
  constraint dependency_type_check CHECK ((dependency_type = ANY (ARRAY['required'::text, 'optional'::text, 'incompatible'::text, 'embedded'::text]))),
  constraint dependency_version_id_fkey FOREIGN KEY (version_id) REFERENCES version(id) ON DELETE SET NULL
);

create table dependency_break (
  id bigint generated always as identity not null,
  project_id text collate "C" not null,
  version_id text collate "C" not null,
  cause text collate "C" not null,
  reason text not null,
  lost_project_id text collate "C" not null,
  lost_version_id text collate "C",
  created timestamp with time zone default now() not null,
  notified timestamp with time zone,
  constraint dependency_break_pkey PRIMARY KEY (id),
  constraint dependency_break_project_id_cause_key UNIQUE (project_id, cause),
  constraint dependency_break_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE,
  constraint dependency_break_reason_check CHECK ((reason = ANY (ARRAY['withdrawn'::text, 'hidden'::text, 'removed'::text]))),
  constraint dependency_break_version_id_fkey FOREIGN KEY (version_id) REFERENCES version(id) ON DELETE CASCADE
);

create table dependent_count (
  project_id text collate "C" not null,
  types smallint not null,
  latest boolean not null,
  total bigint not null,
  constraint dependent_count_pkey PRIMARY KEY (project_id, types, latest)
);

create table download_batch (
  id text collate "C" not null,
  applied timestamp with time zone default now() not null,
  is_passed boolean default false not null,
  constraint download_batch_id_check CHECK (((char_length(id) >= 1) AND (char_length(id) <= 64))),
  constraint download_batch_pkey PRIMARY KEY (id)
);

create table download_ledger (
  only_row boolean default true not null,
  store_id text,
  caught_up_to bigint default 0 not null,
  show_after timestamp with time zone default now() not null,
  needs_rebase boolean default false not null,
  constraint download_ledger_only_row_check CHECK (only_row),
  constraint download_ledger_pkey PRIMARY KEY (only_row)
);

create table download_pending (
  version_id text collate "C" not null,
  project_id text collate "C" not null,
  downloads bigint not null,
  constraint download_pending_downloads_check CHECK ((downloads > 0)),
  constraint download_pending_pkey PRIMARY KEY (version_id)
);

create table email_setting (
  account_id text collate "C" not null,
  kind text collate "C" not null,
  is_emailed boolean not null,
  constraint email_setting_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint email_setting_pkey PRIMARY KEY (account_id, kind)
);

create table event (
  id bigint generated always as identity not null,
  key text collate "C" default random_base62(16) not null,
  number bigint,
  kind text not null,
  subject_kind text not null,
  subject_id text collate "C" not null,
  project_id text collate "C",
  version_id text collate "C",
  organization_ids text[] default '{}'::text[] not null,
  account_ids text[] default '{}'::text[] not null,
  is_public boolean not null,
  loaders text[] default '{}'::text[] not null,
  game_versions text[] default '{}'::text[] not null,
  version_type text,
  at timestamp with time zone default now() not null,
  data jsonb default '{}'::jsonb not null,
  constraint event_kind_check CHECK ((kind = ANY (ARRAY['project.created'::text, 'project.updated'::text, 'project.status_changed'::text, 'project.removed'::text, 'project.transferred'::text, 'version.published'::text, 'version.updated'::text, 'version.withdrawn'::text, 'version.removed'::text, 'member.invited'::text, 'member.joined'::text, 'member.left'::text, 'report.created'::text, 'report.closed'::text, 'scan.quarantined'::text, 'advisory.published'::text, 'organization.project_added'::text, 'organization.project_removed'::text, 'collection.updated'::text, 'account.created'::text, 'dependency.broken'::text, 'webhook.ping'::text]))),
  constraint event_number_key UNIQUE (number),
  constraint event_pkey PRIMARY KEY (id),
  constraint event_subject_kind_check CHECK ((subject_kind = ANY (ARRAY['project'::text, 'organization'::text, 'collection'::text, 'user'::text, 'report'::text, 'advisory'::text, 'webhook'::text])))
);

create table event_head (
  only_row boolean default true not null,
  last bigint default 0 not null,
  constraint event_head_only_row_check CHECK (only_row),
  constraint event_head_pkey PRIMARY KEY (only_row)
);

create table external_image (
  id text collate "C" not null,
  url text not null,
  storage_key text collate "C",
  content_type text,
  size_bytes integer default 0 not null,
  source_etag text,
  fetched timestamp with time zone,
  fresh_until timestamp with time zone not null,
  failures integer default 0 not null,
  last_used timestamp with time zone not null,
  constraint external_image_content_type_check CHECK (((storage_key IS NULL) = (content_type IS NULL))),
  constraint external_image_id_check CHECK ((id ~ '^[0-9a-f]{64}$'::text)),
  constraint external_image_pkey PRIMARY KEY (id),
  constraint external_image_url_check CHECK ((char_length(url) <= 2048))
);

create table file (
  id text collate "C" not null,
  version_id text collate "C" not null,
  filename text not null,
  size_bytes bigint not null,
  sha1 text collate "C" not null,
  sha512 text collate "C" not null,
  is_primary boolean default false not null,
  file_type text,
  content_type text not null,
  storage_key text collate "C" not null,
  created timestamp with time zone default now() not null,
  constraint file_name_key UNIQUE (version_id, filename),
  constraint file_pkey PRIMARY KEY (id),
  constraint file_type_check CHECK ((file_type = ANY (ARRAY['required-resource-pack'::text, 'optional-resource-pack'::text, 'sources-jar'::text, 'dev-jar'::text, 'javadoc-jar'::text, 'signature'::text, 'unknown'::text]))),
  constraint file_version_id_fkey FOREIGN KEY (version_id) REFERENCES version(id) ON DELETE CASCADE
);

create table file_address (
  version_id text collate "C" not null,
  filename text not null,
  sha512 text collate "C" not null,
  coordinates text[] default '{}'::text[] not null,
  constraint file_address_key PRIMARY KEY (version_id, filename),
  constraint file_address_version_id_fkey FOREIGN KEY (version_id) REFERENCES version(id) ON DELETE CASCADE
);

create table file_content (
  sha512 text collate "C" not null,
  project_id text collate "C" not null,
  stage smallint default 2 not null,
  constraint file_content_pkey PRIMARY KEY (sha512),
  constraint file_content_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE,
  constraint file_content_stage_check CHECK (((stage >= 0) AND (stage <= 2)))
);

create table file_manifest (
  file_id text collate "C" not null,
  entry text not null,
  declared_id text collate "C",
  content jsonb not null,
  constraint file_manifest_file_id_fkey FOREIGN KEY (file_id) REFERENCES file(id) ON DELETE CASCADE,
  constraint file_manifest_pkey PRIMARY KEY (file_id, entry)
);

create table first_admin_link (
  only_one boolean default true not null,
  token_hash bytea not null,
  expires timestamp with time zone not null,
  constraint first_admin_link_only_one_check CHECK (only_one),
  constraint first_admin_link_pkey PRIMARY KEY (only_one)
);

create table follow (
  account_id text collate "C" not null,
  project_id text collate "C" not null,
  created timestamp with time zone default now() not null,
  constraint follow_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint follow_pkey PRIMARY KEY (account_id, project_id),
  constraint follow_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE
);

create table follow_feed (
  account_id text collate "C" not null,
  secret_hash bytea not null,
  created timestamp with time zone default now() not null,
  constraint follow_feed_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint follow_feed_pkey PRIMARY KEY (account_id),
  constraint follow_feed_secret_hash_key UNIQUE (secret_hash)
);

create table gallery_item (
  id text collate "C" not null,
  project_id text collate "C" not null,
  url text not null,
  raw_url text not null,
  content_sha1 text collate "C" not null,
  width integer,
  height integer,
  copy_widths integer[] default '{}'::integer[] not null,
  featured boolean default false not null,
  name text,
  description text,
  ordering integer default 0 not null,
  created timestamp with time zone default now() not null,
  video text,
  constraint gallery_item_content_key UNIQUE (project_id, content_sha1),
  constraint gallery_item_pkey PRIMARY KEY (id),
  constraint gallery_item_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE,
  constraint gallery_item_url_key UNIQUE (project_id, url),
  constraint gallery_item_video_check CHECK ((char_length(video) <= 256))
);

create table image (
  id text collate "C" not null,
  owner_id text collate "C",
  context text not null,
  url text,
  storage_key text collate "C" not null,
  size_bytes integer not null,
  created timestamp with time zone default now() not null,
  project_id text collate "C",
  version_id text collate "C",
  report_id text collate "C",
  thread_message_id text collate "C",
  constraint image_context_check CHECK ((context = ANY (ARRAY['project'::text, 'version'::text, 'report'::text, 'thread_message'::text]))),
  constraint image_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES account(id) ON DELETE SET NULL,
  constraint image_pkey PRIMARY KEY (id),
  constraint image_place_check CHECK ((((project_id IS NULL) OR (context = 'project'::text)) AND ((version_id IS NULL) OR (context = 'version'::text)) AND ((report_id IS NULL) OR (context = 'report'::text)) AND ((thread_message_id IS NULL) OR (context = 'thread_message'::text)))),
  constraint image_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE SET NULL,
  constraint image_report_id_fkey FOREIGN KEY (report_id) REFERENCES report(id) ON DELETE SET NULL,
  constraint image_size_check CHECK (((size_bytes >= 1) AND (size_bytes <= 1048576))),
  constraint image_thread_message_id_fkey FOREIGN KEY (thread_message_id) REFERENCES thread_message(id) ON DELETE SET NULL,
  constraint image_version_id_fkey FOREIGN KEY (version_id) REFERENCES version(id) ON DELETE SET NULL
);

create table impact_report (
  id text collate "C" not null,
  project_id text collate "C" not null,
  request jsonb not null,
  result jsonb,
  created timestamp with time zone default now() not null,
  constraint impact_report_pkey PRIMARY KEY (id),
  constraint impact_report_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE
);

create table instance (
  only_row boolean default true not null,
  id text collate "C" not null,
  created timestamp with time zone default now() not null,
  constraint instance_id_check CHECK ((id ~ '^[0-9A-Za-z]{16}$'::text)),
  constraint instance_only_row_check CHECK (only_row),
  constraint instance_pkey PRIMARY KEY (only_row)
);

create table instance_check (
  name text not null,
  at timestamp with time zone not null,
  value jsonb not null,
  constraint instance_check_pkey PRIMARY KEY (name)
);

create table instance_copy (
  only_row boolean default true not null,
  writer text collate "C" not null,
  restored boolean default false not null,
  quiet_since timestamp with time zone,
  damaged_at timestamp with time zone,
  constraint instance_copy_only_row_check CHECK (only_row),
  constraint instance_copy_pkey PRIMARY KEY (only_row),
  constraint instance_copy_writer_check CHECK ((writer ~ '^[0-9A-Za-z]{16}$'::text))
);

create table instance_error (
  hour timestamp with time zone not null,
  code text not null,
  route text not null,
  count integer not null,
  last timestamp with time zone not null,
  request_id text collate "C" not null,
  constraint instance_error_pkey PRIMARY KEY (hour, code, route)
);

create table instance_figure (
  span text not null,
  at timestamp with time zone not null,
  requests integer default 0 not null,
  limited integer default 0 not null,
  refused integer default 0 not null,
  failed integer default 0 not null,
  downloads integer default 0 not null,
  projects integer default 0 not null,
  versions integer default 0 not null,
  accounts integer default 0 not null,
  jobs_done integer default 0 not null,
  jobs_retried integer default 0 not null,
  jobs_failed integer default 0 not null,
  mails_sent integer default 0 not null,
  mails_rejected integer default 0 not null,
  durations integer[] default '{}'::integer[] not null,
  in_review integer,
  constraint instance_figure_pkey PRIMARY KEY (span, at),
  constraint instance_figure_span_check CHECK ((span = ANY (ARRAY['minute'::text, 'hour'::text])))
);

create table instance_key (
  id bigint generated always as identity not null,
  public_key bytea not null,
  private_key bytea not null,
  since timestamp with time zone not null,
  until timestamp with time zone,
  signature bytea,
  constraint instance_key_pkey PRIMARY KEY (id),
  constraint instance_key_public_key_check CHECK ((length(public_key) = 32)),
  constraint instance_key_public_key_key UNIQUE (public_key),
  constraint instance_key_signature_check CHECK ((length(signature) = 64)),
  constraint instance_key_until_check CHECK ((until > since))
);

create table instance_secret (
  name text not null,
  secret bytea not null,
  created timestamp with time zone default now() not null,
  constraint instance_secret_length_check CHECK ((length(secret) = 32)),
  constraint instance_secret_pkey PRIMARY KEY (name)
);

create table instance_settings (
  singleton boolean default true not null,
  name text,
  accent_hue integer,
  about text,
  rules text,
  announcement text,
  mark_url text,
  raw_mark_url text,
  mark_widths integer[] default '{}'::integer[] not null,
  registration text,
  read_only boolean,
  read_only_message text,
  changed timestamp with time zone default now() not null,
  revision bigint default 1 not null,
  announcement_start timestamp with time zone,
  announcement_end timestamp with time zone,
  currency text,
  home_heading text,
  home_text text,
  home_sections text[],
  sign_ups_per_range integer,
  first_projects_per_day integer,
  approve_accounts boolean,
  footer_links jsonb,
  first_steps_dismissed boolean,
  announcement_severity text,
  announcement_link text,
  require_staff_two_factor boolean,
  constraint instance_settings_about_check CHECK ((char_length(about) <= 20000)),
  constraint instance_settings_accent_hue_check CHECK (((accent_hue >= 0) AND (accent_hue <= 359))),
  constraint instance_settings_announcement_check CHECK ((char_length(announcement) <= 1000)),
  constraint instance_settings_announcement_link_check CHECK (((char_length(announcement_link) >= 1) AND (char_length(announcement_link) <= 2048))),
  constraint instance_settings_announcement_severity_check CHECK ((announcement_severity = ANY (ARRAY['info'::text, 'warning'::text, 'critical'::text]))),
  constraint instance_settings_announcement_times_check CHECK ((announcement_end > announcement_start)),
  constraint instance_settings_currency_check CHECK (((char_length(currency) >= 1) AND (char_length(currency) <= 16))),
  constraint instance_settings_first_projects_per_day_check CHECK (((first_projects_per_day >= 1) AND (first_projects_per_day <= 1000))),
  constraint instance_settings_home_heading_check CHECK (((char_length(home_heading) >= 1) AND (char_length(home_heading) <= 100))),
  constraint instance_settings_home_text_check CHECK (((char_length(home_text) >= 1) AND (char_length(home_text) <= 300))),
  constraint instance_settings_mark_check CHECK (((mark_url IS NULL) = (raw_mark_url IS NULL))),
  constraint instance_settings_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 64))),
  constraint instance_settings_pkey PRIMARY KEY (singleton),
  constraint instance_settings_read_only_message_check CHECK ((char_length(read_only_message) <= 500)),
  constraint instance_settings_registration_check CHECK ((registration = ANY (ARRAY['open'::text, 'invitation'::text, 'closed'::text]))),
  constraint instance_settings_rules_check CHECK ((char_length(rules) <= 65536)),
  constraint instance_settings_sign_ups_per_range_check CHECK (((sign_ups_per_range >= 1) AND (sign_ups_per_range <= 1000))),
  constraint instance_settings_singleton_check CHECK (singleton)
);

create table invitation (
  id text collate "C" not null,
  code_hash bytea not null,
  email text,
  note text default ''::text not null,
  uses integer default 0 not null,
  uses_max integer not null,
  created timestamp with time zone not null,
  expires timestamp with time zone not null,
  constraint invitation_code_hash_key UNIQUE (code_hash),
  constraint invitation_note_check CHECK ((char_length(note) <= 200)),
  constraint invitation_pkey PRIMARY KEY (id),
  constraint invitation_uses_check CHECK (((uses >= 0) AND (uses <= uses_max)))
);

create table job_schedule (
  job text not null,
  slot bigint not null,
  every_minutes integer,
  constraint job_schedule_pkey PRIMARY KEY (job)
);

create table job_worker (
  id text collate "C" not null,
  seen timestamp with time zone not null,
  constraint job_worker_pkey PRIMARY KEY (id)
);

create table mail_delivery (
  id bigint generated always as identity not null,
  at timestamp with time zone not null,
  kind text not null,
  account_id text collate "C",
  is_sent boolean not null,
  response text not null,
  constraint mail_delivery_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint mail_delivery_pkey PRIMARY KEY (id),
  constraint mail_delivery_response_check CHECK ((char_length(response) <= 500))
);

create table mirror (
  id text collate "C" not null,
  address text not null,
  selection jsonb not null,
  organization_id text collate "C",
  instance_keys text[] default '{}'::text[] not null,
  cursor text,
  pass integer default 0 not null,
  is_comparing boolean default false not null,
  runs integer default 0 not null,
  created timestamp with time zone default now() not null,
  last_run timestamp with time zone,
  constraint mirror_address_key UNIQUE (address),
  constraint mirror_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id) ON DELETE SET NULL,
  constraint mirror_pkey PRIMARY KEY (id)
);

create table mirror_failure (
  mirror_id text collate "C" not null,
  remote_project_id text collate "C" not null,
  remote_version_id text collate "C" default ''::text not null,
  code text not null,
  message text not null,
  attempts integer default 1 not null,
  last_attempt timestamp with time zone default now() not null,
  constraint mirror_failure_message_check CHECK ((length(message) <= 1000)),
  constraint mirror_failure_mirror_id_fkey FOREIGN KEY (mirror_id) REFERENCES mirror(id) ON DELETE CASCADE,
  constraint mirror_failure_pkey PRIMARY KEY (mirror_id, remote_project_id, remote_version_id)
);

create table moderation_claim (
  project_id text collate "C" not null,
  account_id text collate "C" not null,
  until timestamp with time zone not null,
  constraint moderation_claim_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint moderation_claim_pkey PRIMARY KEY (project_id),
  constraint moderation_claim_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE
);

create table notification (
  id text collate "C" not null,
  account_id text collate "C" not null,
  body jsonb not null,
  cause text collate "C",
  read boolean default false not null,
  created timestamp with time zone default now() not null,
  constraint notification_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint notification_pkey PRIMARY KEY (id)
);

create table oauth_authorization (
  id text collate "C" not null,
  client_id text collate "C" not null,
  account_id text collate "C" not null,
  scopes bigint not null,
  created timestamp with time zone default now() not null,
  constraint oauth_authorization_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint oauth_authorization_client_id_fkey FOREIGN KEY (client_id) REFERENCES oauth_client(id) ON DELETE CASCADE,
  constraint oauth_authorization_key UNIQUE (client_id, account_id),
  constraint oauth_authorization_pkey PRIMARY KEY (id)
);

create table oauth_client (
  id text collate "C" not null,
  account_id text collate "C" not null,
  name text not null,
  description text,
  url text,
  icon_url text,
  raw_icon_url text,
  secret_hash bytea,
  max_scopes bigint not null,
  created timestamp with time zone default now() not null,
  constraint oauth_client_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  constraint oauth_client_description_check CHECK ((char_length(description) <= 255)),
  constraint oauth_client_name_check CHECK (((char_length(name) >= 3) AND (char_length(name) <= 255))),
  constraint oauth_client_pkey PRIMARY KEY (id),
  constraint oauth_client_url_check CHECK ((char_length(url) <= 255))
);

create table oauth_code (
  code_hash bytea not null,
  authorization_id text collate "C" not null,
  client_id text collate "C" not null,
  account_id text collate "C" not null,
  scopes bigint not null,
  redirect_uri text not null,
  code_challenge text,
  expires timestamp with time zone not null,
  constraint oauth_code_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint oauth_code_authorization_id_fkey FOREIGN KEY (authorization_id) REFERENCES oauth_authorization(id) ON DELETE CASCADE,
  constraint oauth_code_client_id_fkey FOREIGN KEY (client_id) REFERENCES oauth_client(id) ON DELETE CASCADE,
  constraint oauth_code_pkey PRIMARY KEY (code_hash)
);

create table oauth_flow (
  flow_hash bytea not null,
  client_id text collate "C" not null,
  account_id text collate "C" not null,
  scopes bigint not null,
  redirect_uri text not null,
  state text,
  code_challenge text,
  expires timestamp with time zone not null,
  constraint oauth_flow_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint oauth_flow_client_id_fkey FOREIGN KEY (client_id) REFERENCES oauth_client(id) ON DELETE CASCADE,
  constraint oauth_flow_pkey PRIMARY KEY (flow_hash)
);

create table oauth_redirect_uri (
  id text collate "C" not null,
  client_id text collate "C" not null,
  uri text collate "C" not null,
  position smallint not null,
  constraint oauth_redirect_uri_client_id_fkey FOREIGN KEY (client_id) REFERENCES oauth_client(id) ON DELETE CASCADE,
  constraint oauth_redirect_uri_key UNIQUE (client_id, uri),
  constraint oauth_redirect_uri_pkey PRIMARY KEY (id)
);

create table oauth_token (
  id text collate "C" not null,
  authorization_id text collate "C" not null,
  client_id text collate "C" not null,
  account_id text collate "C" not null,
  token_hash bytea not null,
  code_hash bytea not null,
  scopes bigint not null,
  created timestamp with time zone default now() not null,
  expires timestamp with time zone not null,
  last_used timestamp with time zone,
  constraint oauth_token_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint oauth_token_authorization_id_fkey FOREIGN KEY (authorization_id) REFERENCES oauth_authorization(id) ON DELETE CASCADE,
  constraint oauth_token_client_id_fkey FOREIGN KEY (client_id) REFERENCES oauth_client(id) ON DELETE CASCADE,
  constraint oauth_token_code_key UNIQUE (code_hash),
  constraint oauth_token_hash_key UNIQUE (token_hash),
  constraint oauth_token_pkey PRIMARY KEY (id)
);

create table organization (
  id text collate "C" not null,
  slug text collate "C" not null,
  name text not null,
  description text not null,
  team_id text collate "C" not null,
  icon_url text,
  raw_icon_url text,
  color integer,
  created timestamp with time zone default now() not null,
  revision bigint default 1 not null,
  hidden boolean default false not null,
  constraint organization_pkey PRIMARY KEY (id),
  constraint organization_slug_key UNIQUE (slug),
  constraint organization_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id),
  constraint organization_team_key UNIQUE (team_id)
);

create table origin (
  mirror_id text collate "C" not null,
  kind text not null,
  remote_id text collate "C" not null,
  project_id text collate "C",
  version_id text collate "C",
  remote_revision text,
  pass integer default 0 not null,
  lacks_files boolean default false not null,
  images jsonb default '{}'::jsonb not null,
  unresolved jsonb,
  constraint origin_kind_check CHECK ((kind =
CASE
    WHEN (num_nonnulls(project_id, version_id) <> 1) THEN ''::text
    WHEN (project_id IS NOT NULL) THEN 'project'::text
    ELSE 'version'::text
END)),
  constraint origin_mirror_id_fkey FOREIGN KEY (mirror_id) REFERENCES mirror(id) ON DELETE CASCADE,
  constraint origin_pkey PRIMARY KEY (mirror_id, kind, remote_id),
  constraint origin_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE,
  constraint origin_project_key UNIQUE (project_id),
  constraint origin_version_id_fkey FOREIGN KEY (version_id) REFERENCES version(id) ON DELETE CASCADE,
  constraint origin_version_key UNIQUE (version_id)
);

create table pack (
  id text collate "C" not null,
  account_id text collate "C" not null,
  name text not null,
  slug text collate "C" not null,
  status text default 'listed'::text not null,
  loader text,
  game_version text not null,
  loader_version text,
  created timestamp with time zone default now() not null,
  updated timestamp with time zone default now() not null,
  revision bigint default 1 not null,
  constraint pack_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint pack_loader_version_check CHECK (((char_length(loader_version) >= 1) AND (char_length(loader_version) <= 64))),
  constraint pack_name_check CHECK (((char_length(name) >= 3) AND (char_length(name) <= 64))),
  constraint pack_pkey PRIMARY KEY (id),
  constraint pack_slug_check CHECK ((slug ~ '^[a-z0-9-]{3,64}$'::text)),
  constraint pack_slug_key UNIQUE (account_id, slug),
  constraint pack_status_check CHECK ((status = ANY (ARRAY['listed'::text, 'unlisted'::text, 'private'::text, 'rejected'::text])))
);

create table pack_previous_slug (
  account_id text collate "C" not null,
  slug text collate "C" not null,
  pack_id text collate "C" not null,
  constraint pack_previous_slug_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint pack_previous_slug_pack_id_fkey FOREIGN KEY (pack_id) REFERENCES pack(id) ON DELETE CASCADE,
  constraint pack_previous_slug_pkey PRIMARY KEY (account_id, slug)
);

create table pack_project (
  pack_id text collate "C" not null,
  project_id text collate "C" not null,
  position integer not null,
  constraint pack_project_pack_id_fkey FOREIGN KEY (pack_id) REFERENCES pack(id) ON DELETE CASCADE,
  constraint pack_project_pkey PRIMARY KEY (pack_id, project_id),
  constraint pack_project_position_check CHECK ((("position" >= 0) AND ("position" <= 199))),
  constraint pack_project_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE
);

create table pack_save (
  pack_id text collate "C" not null,
  number integer not null,
  lock_id text collate "C" not null,
  created timestamp with time zone default now() not null,
  constraint pack_save_lock_id_fkey FOREIGN KEY (lock_id) REFERENCES version_lock(id) ON DELETE RESTRICT,
  constraint pack_save_number_check CHECK ((number > 0)),
  constraint pack_save_pack_id_fkey FOREIGN KEY (pack_id) REFERENCES pack(id) ON DELETE CASCADE,
  constraint pack_save_pkey PRIMARY KEY (pack_id, number)
);

create table page_version (
  kind text not null,
  number integer not null,
  text text not null,
  published timestamp with time zone not null,
  published_by text collate "C",
  asks_again boolean default false not null,
  constraint page_version_asks_again_check CHECK (((NOT asks_again) OR ((kind = 'terms'::text) AND (text <> ''::text)))),
  constraint page_version_kind_check CHECK ((kind = ANY (ARRAY['rules'::text, 'terms'::text, 'privacy'::text, 'imprint'::text, 'contact'::text]))),
  constraint page_version_number_check CHECK ((number >= 1)),
  constraint page_version_pkey PRIMARY KEY (kind, number),
  constraint page_version_published_by_fkey FOREIGN KEY (published_by) REFERENCES account(id) ON DELETE SET NULL,
  constraint page_version_text_check CHECK ((char_length(text) <= 65536))
);

create table passkey (
  id text collate "C" not null,
  account_id text collate "C" not null,
  name text not null,
  credential_id bytea not null,
  public_key bytea not null,
  counter bigint not null,
  transports text[] default '{}'::text[] not null,
  is_synced boolean not null,
  created timestamp with time zone default now() not null,
  last_used timestamp with time zone,
  constraint passkey_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint passkey_credential_id_key UNIQUE (credential_id),
  constraint passkey_name_check CHECK (((length(name) >= 1) AND (length(name) <= 64))),
  constraint passkey_pkey PRIMARY KEY (id)
);

create table payout (
  id text collate "C" not null,
  external_id text not null,
  account_id text collate "C",
  amount numeric(20,8) not null,
  fee numeric(20,8) default 0 not null,
  status text not null,
  address text,
  created timestamp with time zone default now() not null,
  constraint payout_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE SET NULL,
  constraint payout_amount_check CHECK (((amount > (0)::numeric) AND (fee >= (0)::numeric))),
  constraint payout_external_id_check CHECK (((char_length(external_id) >= 1) AND (char_length(external_id) <= 255))),
  constraint payout_external_id_key UNIQUE (external_id),
  constraint payout_pkey PRIMARY KEY (id),
  constraint payout_status_check CHECK ((status = ANY (ARRAY['in-transit'::text, 'success'::text, 'cancelled'::text, 'failed'::text])))
);

create table personal_access_token (
  id text collate "C" not null,
  account_id text collate "C" not null,
  name text not null,
  token_hash bytea not null,
  scopes bigint not null,
  created timestamp with time zone default now() not null,
  expires timestamp with time zone not null,
  last_used timestamp with time zone,
  last_network text,
  project_ids text[],
  organization_ids text[],
  addresses cidr[],
  created_by text collate "C",
  constraint personal_access_token_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint personal_access_token_created_by_fkey FOREIGN KEY (created_by) REFERENCES account(id) ON DELETE CASCADE,
  constraint personal_access_token_hash_key UNIQUE (token_hash),
  constraint personal_access_token_limits_check CHECK ((((COALESCE(cardinality(project_ids), 1) >= 1) AND (COALESCE(cardinality(project_ids), 1) <= 100)) AND ((COALESCE(cardinality(organization_ids), 1) >= 1) AND (COALESCE(cardinality(organization_ids), 1) <= 100)) AND ((COALESCE(cardinality(addresses), 1) >= 1) AND (COALESCE(cardinality(addresses), 1) <= 100)))),
  constraint personal_access_token_name_check CHECK (((char_length(name) >= 3) AND (char_length(name) <= 255))),
  constraint personal_access_token_pkey PRIMARY KEY (id)
);

create table previous_name (
  kind text not null,
  name text collate "C" not null,
  project_id text collate "C",
  organization_id text collate "C",
  account_id text collate "C",
  recorded timestamp with time zone default now() not null,
  constraint previous_name_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint previous_name_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id) ON DELETE CASCADE,
  constraint previous_name_owner_check CHECK ((kind =
CASE
    WHEN (num_nonnulls(project_id, organization_id, account_id) <> 1) THEN ''::text
    WHEN (project_id IS NOT NULL) THEN 'project'::text
    WHEN (organization_id IS NOT NULL) THEN 'organization'::text
    ELSE 'account'::text
END)),
  constraint previous_name_pkey PRIMARY KEY (kind, name),
  constraint previous_name_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE
);

create table project (
  id text collate "C" not null,
  slug text collate "C" not null,
  name text not null,
  summary text not null,
  description text not null,
  status text not null,
  requested_status text,
  scheduled_at timestamp with time zone,
  license text not null,
  license_url text,
  categories text[] default '{}'::text[] not null,
  additional_categories text[] default '{}'::text[] not null,
  link_urls jsonb default '{}'::jsonb not null,
  downloads bigint default 0 not null,
  imported_downloads bigint default 0 not null,
  followers integer default 0 not null,
  published timestamp with time zone default now() not null,
  updated timestamp with time zone default now() not null,
  approved timestamp with time zone,
  queued timestamp with time zone,
  team_id text collate "C" not null,
  organization_id text collate "C",
  icon_url text,
  raw_icon_url text,
  color integer,
  moderation_message text,
  moderation_message_body text,
  monetization_status text default 'monetized'::text not null,
  public_statistics boolean default true not null,
  random_key integer default (floor((random() * ('2147483648'::bigint)::double precision)))::integer not null,
  revision bigint default 1 not null,
  draft_type text,
  license_decided boolean default true not null,
  publishing text default 'any'::text not null,
  origin jsonb,
  version_order text default 'date'::text not null,
  other_names text[] default '{}'::text[] not null,
  constraint project_followers_check CHECK ((followers >= 0)),
  constraint project_monetization_check CHECK ((monetization_status = ANY (ARRAY['monetized'::text, 'demonetized'::text, 'force-demonetized'::text]))),
  constraint project_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id),
  constraint project_other_names_check CHECK ((cardinality(other_names) <= 5)),
  constraint project_pkey PRIMARY KEY (id),
  constraint project_publishing_check CHECK ((publishing = ANY (ARRAY['any'::text, 'trusted_only'::text]))),
  constraint project_requested_status_check CHECK ((requested_status = ANY (ARRAY['approved'::text, 'archived'::text, 'unlisted'::text, 'private'::text, 'draft'::text]))),
  constraint project_slug_key UNIQUE (slug),
  constraint project_status_check CHECK ((status = ANY (ARRAY['approved'::text, 'archived'::text, 'rejected'::text, 'draft'::text, 'unlisted'::text, 'processing'::text, 'withheld'::text, 'scheduled'::text, 'private'::text, 'unknown'::text]))),
  constraint project_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id),
  constraint project_team_key UNIQUE (team_id),
  constraint project_version_order_check CHECK ((version_order = ANY (ARRAY['date'::text, 'number'::text])))
);

create table project_appeal (
  decision_id text collate "C" not null,
  project_id text collate "C" not null,
  message_id text collate "C" not null,
  created timestamp with time zone not null,
  outcome text,
  closed_at timestamp with time zone,
  result_id text collate "C",
  constraint project_appeal_check CHECK (((closed_at IS NULL) = (outcome IS NULL))),
  constraint project_appeal_decision_id_fkey FOREIGN KEY (decision_id) REFERENCES thread_message(id) ON DELETE CASCADE,
  constraint project_appeal_message_id_fkey FOREIGN KEY (message_id) REFERENCES thread_message(id) ON DELETE CASCADE,
  constraint project_appeal_outcome_check CHECK ((outcome = ANY (ARRAY['accepted'::text, 'rejected'::text, 'withdrawn'::text]))),
  constraint project_appeal_pkey PRIMARY KEY (decision_id),
  constraint project_appeal_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE,
  constraint project_appeal_result_id_fkey FOREIGN KEY (result_id) REFERENCES thread_message(id) ON DELETE SET NULL
);

create table project_decision (
  project_id text collate "C" not null,
  account_id text collate "C",
  decided timestamp with time zone not null,
  final_at timestamp with time zone not null,
  from_status text not null,
  to_status text not null,
  message text,
  previous jsonb not null,
  thread_message_id text collate "C",
  snapshot_id bigint,
  constraint project_decision_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE SET NULL,
  constraint project_decision_pkey PRIMARY KEY (project_id),
  constraint project_decision_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE,
  constraint project_decision_snapshot_id_fkey FOREIGN KEY (snapshot_id) REFERENCES project_snapshot(id) ON DELETE SET NULL,
  constraint project_decision_thread_message_id_fkey FOREIGN KEY (thread_message_id) REFERENCES thread_message(id) ON DELETE SET NULL
);

create table project_dependent (
  project_id text collate "C" not null,
  dependent_id text collate "C" not null,
  types smallint not null,
  versions integer not null,
  latest boolean not null,
  downloads bigint not null,
  updated timestamp with time zone not null,
  constraint project_dependent_pkey PRIMARY KEY (dependent_id, project_id),
  constraint project_dependent_types_check CHECK (((types >= 1) AND (types <= 15)))
);

create table project_likeness (
  project_id text collate "C" not null,
  letters text[] not null,
  words text[] not null,
  icon bit(64),
  constraint project_likeness_pkey PRIMARY KEY (project_id),
  constraint project_likeness_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE
);

create table project_snapshot (
  id bigint generated always as identity not null,
  project_id text collate "C" not null,
  reason text not null,
  created timestamp with time zone not null,
  state jsonb not null,
  constraint project_snapshot_pkey PRIMARY KEY (id),
  constraint project_snapshot_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE,
  constraint project_snapshot_reason_check CHECK ((reason = ANY (ARRAY['approval'::text, 'message'::text, 'submission'::text])))
);

create table public_change (
  kind text not null,
  subject_id text collate "C" not null,
  number bigint not null,
  project_id text collate "C",
  is_present boolean not null,
  revision bigint not null,
  changed timestamp with time zone not null,
  constraint public_change_number_key UNIQUE (number),
  constraint public_change_pkey PRIMARY KEY (kind, subject_id)
);

create table public_change_head (
  only_row boolean default true not null,
  epoch text not null,
  last bigint default 0 not null,
  forgotten bigint default 0 not null,
  database text not null,
  constraint public_change_head_epoch_check CHECK ((epoch ~ '^[0-9A-Za-z]{8}$'::text)),
  constraint public_change_head_only_row_check CHECK (only_row),
  constraint public_change_head_pkey PRIMARY KEY (only_row)
);

create table public_change_note (
  kind text not null,
  subject_id text collate "C" not null,
  transaction xid8 default pg_current_xact_id() not null,
  constraint public_change_note_kind_check CHECK ((kind = ANY (ARRAY['project'::text, 'version'::text, 'user'::text, 'organization'::text, 'collection'::text, 'advisory'::text]))),
  constraint public_change_note_pkey PRIMARY KEY (transaction, kind, subject_id)
);

create table publisher_token (
  id text collate "C" not null,
  publisher_id text collate "C" not null,
  token_hash bytea not null,
  project_id text collate "C",
  provenance jsonb not null,
  created timestamp with time zone default now() not null,
  expires timestamp with time zone not null,
  constraint publisher_token_hash_key UNIQUE (token_hash),
  constraint publisher_token_pkey PRIMARY KEY (id),
  constraint publisher_token_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE,
  constraint publisher_token_publisher_id_fkey FOREIGN KEY (publisher_id) REFERENCES trusted_publisher(id) ON DELETE CASCADE
);

create table quota_override (
  account_id text collate "C" not null,
  projects integer,
  organizations integer,
  collections integer,
  constraint quota_override_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint quota_override_pkey PRIMARY KEY (account_id)
);

create table rate_limit_grant (
  id text collate "C" not null,
  token_id text collate "C",
  address_range cidr,
  requests_per_minute integer not null,
  note text default ''::text not null,
  created timestamp with time zone default now() not null,
  constraint rate_limit_grant_pkey PRIMARY KEY (id),
  constraint rate_limit_grant_range_key UNIQUE (address_range),
  constraint rate_limit_grant_rate_check CHECK (((requests_per_minute >= 1) AND (requests_per_minute <= 1000000))),
  constraint rate_limit_grant_subject_check CHECK ((num_nonnulls(token_id, address_range) = 1)),
  constraint rate_limit_grant_token_key UNIQUE (token_id)
);

create table removed_gallery_item (
  id text collate "C" not null,
  project_id text collate "C" not null,
  url text not null,
  item jsonb not null,
  removed timestamp with time zone not null,
  constraint removed_gallery_item_pkey PRIMARY KEY (id),
  constraint removed_gallery_item_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE
);

create table report (
  id text collate "C" not null,
  report_type text not null,
  item_type text not null,
  project_id text collate "C",
  version_id text collate "C",
  account_id text collate "C",
  item_id text not null,
  reporter_id text collate "C" not null,
  body text not null,
  closed boolean default false not null,
  created timestamp with time zone default now() not null,
  outcome text,
  closed_at timestamp with time zone,
  constraint report_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE SET NULL,
  constraint report_item_type_check CHECK ((item_type = ANY (ARRAY['project'::text, 'version'::text, 'user'::text]))),
  constraint report_outcome_check CHECK ((outcome = ANY (ARRAY['action'::text, 'no_action'::text]))),
  constraint report_pkey PRIMARY KEY (id),
  constraint report_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE SET NULL,
  constraint report_reporter_id_fkey FOREIGN KEY (reporter_id) REFERENCES account(id),
  constraint report_version_id_fkey FOREIGN KEY (version_id) REFERENCES version(id) ON DELETE SET NULL
);

create table report_claim (
  item_type text not null,
  item_id text not null,
  account_id text collate "C" not null,
  until timestamp with time zone not null,
  constraint report_claim_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint report_claim_pkey PRIMARY KEY (item_type, item_id)
);

create table report_snapshot (
  report_id text collate "C" not null,
  state jsonb not null,
  constraint report_snapshot_pkey PRIMARY KEY (report_id),
  constraint report_snapshot_report_id_fkey FOREIGN KEY (report_id) REFERENCES report(id) ON DELETE CASCADE
);

create table reserved_username (
  username text not null,
  account_id text collate "C" not null,
  expires timestamp with time zone not null,
  constraint reserved_username_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint reserved_username_pkey PRIMARY KEY (username)
);

create table revenue_part (
  id bigint generated always as identity not null,
  external_id text not null,
  day timestamp with time zone not null,
  amount numeric(20,8) not null,
  created timestamp with time zone default now() not null,
  constraint revenue_part_amount_check CHECK ((amount > (0)::numeric)),
  constraint revenue_part_external_id_check CHECK (((char_length(external_id) >= 1) AND (char_length(external_id) <= 255))),
  constraint revenue_part_external_id_key UNIQUE (external_id),
  constraint revenue_part_pkey PRIMARY KEY (id)
);

create table revenue_share (
  id bigint generated always as identity not null,
  part_id bigint not null,
  project_id text collate "C" not null,
  account_id text collate "C",
  day timestamp with time zone not null,
  amount numeric(20,8) not null,
  available timestamp with time zone not null,
  constraint revenue_share_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE SET NULL,
  constraint revenue_share_amount_check CHECK ((amount > (0)::numeric)),
  constraint revenue_share_key UNIQUE (part_id, project_id, account_id),
  constraint revenue_share_part_id_fkey FOREIGN KEY (part_id) REFERENCES revenue_part(id),
  constraint revenue_share_pkey PRIMARY KEY (id)
);

create table saved_reply (
  id text collate "C" not null,
  topic text not null,
  language text not null,
  title text not null,
  body text not null,
  position integer not null,
  created timestamp with time zone default now() not null,
  updated timestamp with time zone default now() not null,
  constraint saved_reply_language_check CHECK (((char_length(language) >= 2) AND (char_length(language) <= 35))),
  constraint saved_reply_pkey PRIMARY KEY (id),
  constraint saved_reply_title_check CHECK (((char_length(title) >= 1) AND (char_length(title) <= 128))),
  constraint saved_reply_topic_check CHECK (((char_length(topic) >= 1) AND (char_length(topic) <= 64)))
);

create table schema_migration (
  name text not null,
  checksum text not null,
  applied timestamp with time zone default now() not null,
  constraint schema_migration_pkey PRIMARY KEY (name)
);

create table search_change (
  project_id text collate "C" not null,
  transaction xid8 not null,
  constraint search_change_pkey PRIMARY KEY (project_id, transaction)
);

create table search_index (
  name text collate "C" not null,
  holder bigint default 1 not null,
  snapshot text,
  database text,
  basis text,
  rebuilt bigint default 0 not null,
  identity text,
  constraint search_index_pkey PRIMARY KEY (name),
  constraint search_index_state_check CHECK ((((snapshot IS NULL) = (database IS NULL)) AND ((snapshot IS NULL) = (basis IS NULL))))
);

create table search_rebuild (
  id boolean default true not null,
  requested bigint default 0 not null,
  finished bigint default 0 not null,
  constraint search_rebuild_id_check CHECK (id),
  constraint search_rebuild_pkey PRIMARY KEY (id)
);

create table session (
  id text collate "C" not null,
  account_id text collate "C" not null,
  token_hash bytea not null,
  created timestamp with time zone default now() not null,
  last_login timestamp with time zone default now() not null,
  expires timestamp with time zone not null,
  refresh_expires timestamp with time zone not null,
  confirmed_at timestamp with time zone,
  user_agent text not null,
  ip text not null,
  os text,
  platform text,
  city text,
  country text,
  constraint session_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint session_pkey PRIMARY KEY (id),
  constraint session_token_hash_key UNIQUE (token_hash)
);

create table sign_up_block (
  id text collate "C" not null,
  email_domain text collate "C",
  address_range cidr,
  note text not null,
  created timestamp with time zone not null,
  ends timestamp with time zone,
  constraint sign_up_block_email_domain_check CHECK (((length(email_domain) >= 1) AND (length(email_domain) <= 253))),
  constraint sign_up_block_id_check CHECK ((id ~ '^[0-9A-Za-z]{8}$'::text)),
  constraint sign_up_block_note_check CHECK ((length(note) <= 500)),
  constraint sign_up_block_pkey PRIMARY KEY (id),
  constraint sign_up_block_target_check CHECK ((num_nonnulls(email_domain, address_range) = 1))
);

create table storage_measure (
  day date not null,
  measured timestamp with time zone not null,
  version_bytes bigint not null,
  version_files integer not null,
  image_bytes bigint not null,
  image_files integer not null,
  orphan_bytes bigint not null,
  orphan_files integer not null,
  event_bytes bigint,
  database_bytes bigint not null,
  details jsonb,
  constraint storage_measure_pkey PRIMARY KEY (day)
);

create table stored_form (
  key_hash bytea not null,
  browser_hash bytea not null,
  caller text collate "C" not null,
  path text not null,
  fields jsonb not null,
  expires timestamp with time zone not null,
  constraint stored_form_pkey PRIMARY KEY (key_hash)
);

create table tag_list (
  name text not null,
  rows jsonb not null,
  changed timestamp with time zone default now() not null,
  revision bigint default 1 not null,
  removed text[] default '{}'::text[] not null,
  constraint tag_list_name_check CHECK ((name = ANY (ARRAY['games'::text, 'loaders'::text, 'categories'::text, 'game_versions'::text, 'loader_fields'::text, 'licenses'::text, 'link_platforms'::text]))),
  constraint tag_list_pkey PRIMARY KEY (name),
  constraint tag_list_rows_check CHECK ((jsonb_typeof(rows) = 'array'::text))
);

create table takedown (
  id text collate "C" not null,
  created timestamp with time zone not null,
  actor_id text collate "C",
  kind text not null,
  target text not null,
  reason text not null,
  reference text not null,
  visibility text not null,
  before jsonb not null,
  undone timestamp with time zone,
  undone_by_id text collate "C",
  constraint takedown_actor_id_fkey FOREIGN KEY (actor_id) REFERENCES account(id) ON DELETE SET NULL,
  constraint takedown_id_check CHECK ((id ~ '^[0-9A-Za-z]{8}$'::text)),
  constraint takedown_pkey PRIMARY KEY (id),
  constraint takedown_undone_by_id_fkey FOREIGN KEY (undone_by_id) REFERENCES account(id) ON DELETE SET NULL
);

create table team (
  id text collate "C" not null,
  published integer default 0 not null,
  revision bigint default 1 not null,
  constraint team_pkey PRIMARY KEY (id)
);

create table team_member (
  team_id text collate "C" not null,
  account_id text collate "C" not null,
  role text default 'Member'::text not null,
  is_owner boolean default false not null,
  permissions integer default 0 not null,
  organization_permissions integer,
  accepted boolean default false not null,
  payouts_split numeric(12,4) default 0 not null,
  ordering integer default 0 not null,
  created timestamp with time zone default now() not null,
  constraint team_member_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint team_member_organization_permissions_check CHECK (((organization_permissions >= 0) AND (organization_permissions <= 255))),
  constraint team_member_owner_check CHECK (((NOT is_owner) OR accepted)),
  constraint team_member_payouts_split_check CHECK (((payouts_split >= (0)::numeric) AND (payouts_split <= (5000)::numeric))),
  constraint team_member_permissions_check CHECK (((permissions >= 0) AND (permissions <= 1023))),
  constraint team_member_pkey PRIMARY KEY (team_id, account_id),
  constraint team_member_role_check CHECK ((char_length(role) <= 255)),
  constraint team_member_team_id_fkey FOREIGN KEY (team_id) REFERENCES team(id) ON DELETE CASCADE
);

create table terms_consent (
  account_id text collate "C" not null,
  version integer not null,
  agreed timestamp with time zone not null,
  constraint terms_consent_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint terms_consent_pkey PRIMARY KEY (account_id, version)
);

create table text_base_url (
  url text not null,
  constraint text_base_url_pkey PRIMARY KEY (url)
);

create table thread (
  id text collate "C" not null,
  type text not null,
  project_id text collate "C",
  report_id text collate "C",
  size_bytes bigint default 0 not null,
  unanswered_since timestamp with time zone,
  constraint thread_pkey PRIMARY KEY (id),
  constraint thread_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE SET NULL,
  constraint thread_project_key UNIQUE (project_id),
  constraint thread_report_id_fkey FOREIGN KEY (report_id) REFERENCES report(id) ON DELETE CASCADE,
  constraint thread_report_key UNIQUE (report_id),
  constraint thread_type_check CHECK ((type = ANY (ARRAY['project'::text, 'report'::text, 'direct_message'::text])))
);

create table thread_message (
  id text collate "C" not null,
  thread_id text collate "C" not null,
  author_id text collate "C",
  body jsonb not null,
  hide_identity boolean default false not null,
  created timestamp with time zone default now() not null,
  constraint thread_message_author_id_fkey FOREIGN KEY (author_id) REFERENCES account(id),
  constraint thread_message_pkey PRIMARY KEY (id),
  constraint thread_message_thread_id_fkey FOREIGN KEY (thread_id) REFERENCES thread(id) ON DELETE CASCADE
);

create table trusted_publisher (
  id text collate "C" not null,
  project_id text collate "C",
  organization_id text collate "C",
  issuer text not null,
  repository text not null,
  repository_id text collate "C",
  owner_id text collate "C",
  workflow text not null,
  environment text,
  ref_pattern text,
  protected_ref_only boolean default false not null,
  called_workflows text[] default '{}'::text[] not null,
  created_by text collate "C",
  created timestamp with time zone default now() not null,
  stopped timestamp with time zone,
  last_used timestamp with time zone,
  proven timestamp with time zone,
  constraint trusted_publisher_created_by_fkey FOREIGN KEY (created_by) REFERENCES account(id) ON DELETE SET NULL,
  constraint trusted_publisher_key UNIQUE NULLS NOT DISTINCT (project_id, organization_id, issuer, repository, workflow, environment, ref_pattern),
  constraint trusted_publisher_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id) ON DELETE CASCADE,
  constraint trusted_publisher_owner_check CHECK ((num_nonnulls(project_id, organization_id) = 1)),
  constraint trusted_publisher_pkey PRIMARY KEY (id),
  constraint trusted_publisher_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE
);

create table upload (
  id text collate "C" not null,
  account_id text collate "C",
  token_owner text collate "C",
  length bigint,
  received bigint default 0 not null,
  metadata text not null,
  version_id text collate "C",
  created timestamp with time zone default now() not null,
  expires timestamp with time zone not null,
  lease text collate "C",
  lease_until timestamp with time zone,
  constraint upload_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE SET NULL,
  constraint upload_length_check CHECK ((length >= 0)),
  constraint upload_pkey PRIMARY KEY (id),
  constraint upload_version_id_fkey FOREIGN KEY (version_id) REFERENCES version(id) ON DELETE SET NULL
);

create table upload_claim (
  storage_key text collate "C" not null,
  created timestamp with time zone default now() not null,
  constraint upload_claim_pkey PRIMARY KEY (storage_key)
);

create table upload_part (
  storage_key text collate "C" not null,
  upload_id text collate "C" not null,
  start bigint not null,
  size_bytes bigint not null,
  sealed boolean default false not null,
  constraint upload_part_pkey PRIMARY KEY (storage_key),
  constraint upload_part_upload_id_fkey FOREIGN KEY (upload_id) REFERENCES upload(id),
  constraint upload_part_upload_id_start_key UNIQUE (upload_id, start)
);

create table used_ci_token (
  issuer text not null,
  token_id text collate "C" not null,
  expires timestamp with time zone not null,
  constraint used_ci_token_pkey PRIMARY KEY (issuer, token_id)
);

create table user_note (
  account_id text collate "C" not null,
  body text not null,
  revision integer default 1 not null,
  author_id text collate "C",
  updated timestamp with time zone default now() not null,
  constraint user_note_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint user_note_author_id_fkey FOREIGN KEY (author_id) REFERENCES account(id) ON DELETE SET NULL,
  constraint user_note_pkey PRIMARY KEY (account_id)
);

create table version (
  id text collate "C" not null,
  project_id text collate "C" not null,
  author_id text collate "C" not null,
  name text not null,
  version_number text not null,
  changelog text default ''::text not null,
  version_type text not null,
  status text default 'listed'::text not null,
  requested_status text,
  scheduled_at timestamp with time zone,
  featured boolean default false not null,
  downloads bigint default 0 not null,
  imported_downloads bigint default 0 not null,
  date_published timestamp with time zone default now() not null,
  ordering integer,
  loaders text[] not null,
  fields jsonb default '{}'::jsonb not null,
  revision bigint default 1 not null,
  is_new_draft boolean default false not null,
  draft_expires timestamp with time zone,
  provenance jsonb,
  withdrawn_kind text,
  withdrawn_reason text,
  withdrawn_replacement text collate "C",
  withdrawn_at timestamp with time zone,
  origin jsonb,
  number_key text collate "C",
  constraint version_author_id_fkey FOREIGN KEY (author_id) REFERENCES account(id),
  constraint version_pkey PRIMARY KEY (id),
  constraint version_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE,
  constraint version_requested_status_check CHECK ((requested_status = ANY (ARRAY['listed'::text, 'archived'::text, 'draft'::text, 'unlisted'::text]))),
  constraint version_status_check CHECK ((status = ANY (ARRAY['listed'::text, 'archived'::text, 'draft'::text, 'unlisted'::text, 'scheduled'::text, 'unknown'::text]))),
  constraint version_type_check CHECK ((version_type = ANY (ARRAY['release'::text, 'beta'::text, 'alpha'::text]))),
  constraint version_withdrawn_check CHECK ((((withdrawn_at IS NULL) AND (num_nonnulls(withdrawn_kind, withdrawn_reason, withdrawn_replacement) = 0)) OR ((withdrawn_at IS NOT NULL) AND (num_nonnulls(withdrawn_kind, withdrawn_reason) = 2)))),
  constraint version_withdrawn_kind_check CHECK ((withdrawn_kind = ANY (ARRAY['broken'::text, 'security'::text, 'legal'::text, 'superseded'::text]))),
  constraint version_withdrawn_replacement_fkey FOREIGN KEY (withdrawn_replacement) REFERENCES version(id) ON DELETE SET NULL
);

create table version_coordinate (
  project_id text collate "C" not null,
  version_number text not null,
  version_id text collate "C" not null,
  constraint version_coordinate_pkey PRIMARY KEY (project_id, version_number),
  constraint version_coordinate_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE
);

create table version_lock (
  id text collate "C" not null,
  target jsonb not null,
  version_ids text[] collate "C" not null,
  sha1s text[] collate "C" not null,
  content text not null,
  created timestamp with time zone default now() not null,
  last_read timestamp with time zone default now() not null,
  constraint version_lock_files_check CHECK ((cardinality(version_ids) = cardinality(sha1s))),
  constraint version_lock_id_check CHECK ((id ~ '^[0-9A-Za-z]{22}$'::text)),
  constraint version_lock_pkey PRIMARY KEY (id)
);

create table version_manifest (
  only_one boolean default true not null,
  read_at timestamp with time zone,
  failing_since timestamp with time zone,
  reason text,
  constraint version_manifest_only_one_check CHECK (only_one),
  constraint version_manifest_pkey PRIMARY KEY (only_one),
  constraint version_manifest_reason_check CHECK ((char_length(reason) <= 500))
);

create table version_scan (
  version_id text collate "C" not null,
  state text default 'pending'::text not null,
  round integer default 1 not null,
  shown_before boolean default false not null,
  reason text,
  findings jsonb default '[]'::jsonb not null,
  attempts integer default 0 not null,
  next_attempt timestamp with time zone not null,
  last_error text,
  released_by text collate "C",
  requested timestamp with time zone not null,
  finished timestamp with time zone,
  constraint version_scan_pkey PRIMARY KEY (version_id),
  constraint version_scan_released_by_fkey FOREIGN KEY (released_by) REFERENCES account(id) ON DELETE SET NULL,
  constraint version_scan_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'pass'::text, 'warn'::text, 'quarantine'::text]))),
  constraint version_scan_version_id_fkey FOREIGN KEY (version_id) REFERENCES version(id) ON DELETE CASCADE
);

create table webhook (
  id text collate "C" not null,
  owner_kind text not null,
  project_id text collate "C",
  organization_id text collate "C",
  account_id text collate "C",
  created_by text collate "C",
  url text not null,
  host text not null,
  format text not null,
  events text[] not null,
  loaders text[] default '{}'::text[] not null,
  game_versions text[] default '{}'::text[] not null,
  version_types text[] default '{}'::text[] not null,
  secret bytea not null,
  previous_secret bytea,
  previous_until timestamp with time zone,
  active boolean default true not null,
  disabled_reason text,
  created timestamp with time zone default now() not null,
  last_success timestamp with time zone,
  last_failure timestamp with time zone,
  failing_since timestamp with time zone,
  failures integer default 0 not null,
  after_event bigint default 0 not null,
  constraint webhook_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint webhook_active_check CHECK ((active = (disabled_reason IS NULL))),
  constraint webhook_created_by_fkey FOREIGN KEY (created_by) REFERENCES account(id) ON DELETE SET NULL,
  constraint webhook_disabled_reason_check CHECK ((disabled_reason = ANY (ARRAY['failing'::text, 'gone'::text, 'owner'::text, 'secret_lost'::text, 'access_lost'::text]))),
  constraint webhook_events_check CHECK ((cardinality(events) > 0)),
  constraint webhook_format_check CHECK ((format = ANY (ARRAY['standard'::text, 'discord'::text, 'github'::text]))),
  constraint webhook_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id) ON DELETE CASCADE,
  constraint webhook_owner_check CHECK ((((project_id IS NOT NULL) = (owner_kind = 'project'::text)) AND ((organization_id IS NOT NULL) = (owner_kind = 'organization'::text)) AND ((account_id IS NOT NULL) = (owner_kind = 'user'::text)))),
  constraint webhook_owner_kind_check CHECK ((owner_kind = ANY (ARRAY['project'::text, 'organization'::text, 'user'::text, 'instance'::text]))),
  constraint webhook_pkey PRIMARY KEY (id),
  constraint webhook_url_check CHECK ((char_length(url) <= 2048))
);

create table webhook_attempt (
  delivery_id text collate "C" not null,
  attempt integer not null,
  at timestamp with time zone not null,
  ms integer not null,
  error text,
  request_headers jsonb not null,
  request_body text not null,
  response_status integer,
  response_headers jsonb default '{}'::jsonb not null,
  response_body text,
  constraint webhook_attempt_delivery_id_fkey FOREIGN KEY (delivery_id) REFERENCES webhook_delivery(id) ON DELETE CASCADE,
  constraint webhook_attempt_pkey PRIMARY KEY (delivery_id, attempt)
);

create table webhook_delivery (
  id text collate "C" default random_base62(11) not null,
  sequence bigint generated always as identity not null,
  webhook_id text collate "C" not null,
  event_id bigint not null,
  subject text collate "C" not null,
  state text default 'pending'::text not null,
  attempt integer default 0 not null,
  next_attempt timestamp with time zone,
  leased_until timestamp with time zone,
  created timestamp with time zone not null,
  constraint webhook_delivery_event_id_fkey FOREIGN KEY (event_id) REFERENCES event(id) ON DELETE CASCADE,
  constraint webhook_delivery_next_attempt_check CHECK (((next_attempt IS NOT NULL) = (state = 'pending'::text))),
  constraint webhook_delivery_pkey PRIMARY KEY (id),
  constraint webhook_delivery_sequence_key UNIQUE (sequence),
  constraint webhook_delivery_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text, 'discarded'::text]))),
  constraint webhook_delivery_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES webhook(id) ON DELETE CASCADE
);

CREATE INDEX account_awaits_approval_idx ON public.account USING btree (created) WHERE awaits_approval;

CREATE INDEX account_cleanup_actor_id_idx ON public.account_cleanup USING btree (actor_id) WHERE (actor_id IS NOT NULL);

CREATE INDEX account_cleanup_created_idx ON public.account_cleanup USING btree (created);

CREATE UNIQUE INDEX account_code_host_key ON public.account USING btree (code_host_id);

CREATE INDEX account_deletion_due_idx ON public.account USING btree (deletion_due) WHERE (deletion_due IS NOT NULL);

CREATE INDEX account_email_domain_idx ON public.account USING btree (lower(split_part(email, '@'::text, 2))) WHERE (email IS NOT NULL);

CREATE UNIQUE INDEX account_email_key ON public.account USING btree (lower(email));

CREATE INDEX account_flow_account_id_idx ON public.account_flow USING btree (account_id);

CREATE INDEX account_flow_expires_idx ON public.account_flow USING btree (expires);

CREATE INDEX account_lower_id_idx ON public.account USING btree (lower(id));

CREATE INDEX account_origin_at_idx ON public.account_origin USING btree (at);

CREATE INDEX account_origin_range_idx ON public.account_origin USING gist (address_range inet_ops);

CREATE INDEX account_service_of_idx ON public.account USING btree (service_of) WHERE (service_of IS NOT NULL);

CREATE INDEX account_staff_idx ON public.account USING btree (role, id) WHERE (role <> 'developer'::text);

CREATE UNIQUE INDEX account_username_key ON public.account USING btree (lower(username));

CREATE INDEX account_username_prefix_idx ON public.account USING btree (lower(username) COLLATE "C");

CREATE INDEX advisory_author_id_idx ON public.advisory USING btree (author_id);

CREATE INDEX advisory_hash_hash_idx ON public.advisory_hash USING btree (hash);

CREATE INDEX advisory_modified_idx ON public.advisory USING btree (modified, id) WHERE is_public_advisory(status);

CREATE INDEX advisory_project_id_idx ON public.advisory USING btree (project_id, modified, id);

CREATE INDEX advisory_review_idx ON public.advisory USING btree (modified, id) WHERE (status = 'review'::text);

CREATE INDEX advisory_version_version_id_idx ON public.advisory_version USING btree (version_id);

CREATE INDEX affiliate_code_account_id_idx ON public.affiliate_code USING btree (account_id, created);

CREATE INDEX affiliate_code_created_by_idx ON public.affiliate_code USING btree (created_by);

CREATE INDEX affiliate_conversion_account_id_idx ON public.affiliate_conversion USING btree (account_id);

CREATE INDEX affiliate_conversion_code_idx ON public.affiliate_conversion USING btree (affiliate_code_id, converted);

CREATE INDEX attention_dismissal_project_id_idx ON public.attention_dismissal USING btree (project_id);

CREATE INDEX audit_entry_account_ids_idx ON public.audit_entry USING gin (account_ids);

CREATE INDEX audit_entry_action_idx ON public.audit_entry USING btree (action, id);

CREATE INDEX audit_entry_actor_idx ON public.audit_entry USING btree (actor_id, id);

CREATE INDEX audit_entry_address_idx ON public.audit_entry USING btree (at) WHERE (address IS NOT NULL);

CREATE INDEX audit_entry_at_idx ON public.audit_entry USING btree (at);

CREATE INDEX audit_entry_sign_in_idx ON public.audit_entry USING btree (actor_id, at) WHERE (action = ANY (ARRAY['account.created'::text, 'account.signed_in'::text]));

CREATE INDEX audit_entry_subject_id_idx ON public.audit_entry USING btree (subject_id, id) WHERE (subject_id IS NOT NULL);

CREATE INDEX audit_entry_subject_idx ON public.audit_entry USING btree (subject_kind, subject_id, id);

CREATE INDEX blocked_content_takedown_id ON public.blocked_content USING btree (takedown_id);

CREATE INDEX blocked_external_image_blocked_by_id_idx ON public.blocked_external_image USING btree (blocked_by_id) WHERE (blocked_by_id IS NOT NULL);

CREATE INDEX blocked_external_image_created_idx ON public.blocked_external_image USING btree (created);

CREATE INDEX blocked_external_image_takedown_id_idx ON public.blocked_external_image USING btree (takedown_id) WHERE (takedown_id IS NOT NULL);

CREATE INDEX change_log_transaction_idx ON public.change_log USING btree (transaction);

CREATE INDEX cleaned_account_cleanup_id_idx ON public.cleaned_account USING btree (cleanup_id);

CREATE INDEX collection_account_id_idx ON public.collection USING btree (account_id, created DESC, id);

CREATE INDEX collection_listed_idx ON public.collection USING btree (created DESC, id) WHERE (status = 'listed'::text);

CREATE INDEX collection_project_project_id_idx ON public.collection_project USING btree (project_id);

CREATE INDEX demo_item_events_idx ON public.demo_item USING btree (id) WHERE ((kind = 'project'::text) AND (NOT has_events));

CREATE INDEX dependency_break_created_idx ON public.dependency_break USING btree (created);

CREATE INDEX dependency_break_notified_idx ON public.dependency_break USING btree (project_id, notified) WHERE (notified IS NOT NULL);

CREATE INDEX dependency_break_pending_idx ON public.dependency_break USING btree (project_id) WHERE (notified IS NULL);

CREATE INDEX dependency_break_version_id_idx ON public.dependency_break USING btree (version_id);

CREATE INDEX dependency_named_idx ON public.dependency USING btree (dependent_id) INCLUDE (version_id, project_id);

CREATE INDEX dependency_project_id_idx ON public.dependency USING btree (project_id);

CREATE INDEX dependency_version_id_idx ON public.dependency USING btree (version_id);

CREATE INDEX download_batch_applied_idx ON public.download_batch USING btree (applied);

CREATE INDEX download_batch_open_idx ON public.download_batch USING btree (id) WHERE (NOT is_passed);

CREATE INDEX download_pending_project_id_idx ON public.download_pending USING btree (project_id);

CREATE INDEX event_at_idx ON public.event USING btree (at);

CREATE INDEX event_created_idx ON public.event USING btree (project_id) WHERE (kind = 'project.created'::text);

CREATE INDEX event_unnumbered_idx ON public.event USING btree (id) WHERE (number IS NULL);

CREATE INDEX external_image_last_used_idx ON public.external_image USING btree (last_used);

CREATE UNIQUE INDEX external_image_storage_key_key ON public.external_image USING btree (storage_key);

CREATE INDEX file_content_project_id_idx ON public.file_content USING btree (project_id);

CREATE INDEX file_manifest_declared_id_idx ON public.file_manifest USING btree (declared_id) WHERE (declared_id IS NOT NULL);

CREATE INDEX file_manifest_pack_loader_idx ON public.file_manifest USING btree (file_id) WHERE (content ? 'packLoaderVersions'::text);

CREATE UNIQUE INDEX file_primary_key ON public.file USING btree (version_id) WHERE is_primary;

CREATE INDEX file_sha1_idx ON public.file USING btree (sha1) INCLUDE (version_id);

CREATE INDEX file_sha512_idx ON public.file USING btree (sha512) INCLUDE (version_id);

CREATE INDEX follow_project_account_idx ON public.follow USING btree (project_id, account_id);

CREATE UNIQUE INDEX gallery_item_featured_key ON public.gallery_item USING btree (project_id) WHERE featured;

CREATE INDEX image_owner_id_idx ON public.image USING btree (owner_id);

CREATE INDEX image_project_id_idx ON public.image USING btree (project_id) WHERE (project_id IS NOT NULL);

CREATE INDEX image_report_id_idx ON public.image USING btree (report_id) WHERE (report_id IS NOT NULL);

CREATE INDEX image_thread_message_id_idx ON public.image USING btree (thread_message_id) WHERE (thread_message_id IS NOT NULL);

CREATE INDEX image_version_id_idx ON public.image USING btree (version_id) WHERE (version_id IS NOT NULL);

CREATE INDEX image_waiting_idx ON public.image USING btree (created) WHERE ((project_id IS NULL) AND (version_id IS NULL) AND (report_id IS NULL) AND (thread_message_id IS NULL));

CREATE INDEX impact_report_created_idx ON public.impact_report USING btree (created);

CREATE INDEX impact_report_project_id_idx ON public.impact_report USING btree (project_id);

CREATE UNIQUE INDEX instance_key_current_key ON public.instance_key USING btree (((until IS NULL))) WHERE (until IS NULL);

CREATE INDEX invitation_expires_idx ON public.invitation USING btree (expires);

CREATE INDEX mail_delivery_account_id_idx ON public.mail_delivery USING btree (account_id);

CREATE INDEX mail_delivery_rejected_idx ON public.mail_delivery USING btree (id) WHERE (NOT is_sent);

CREATE INDEX mirror_organization_id_idx ON public.mirror USING btree (organization_id);

CREATE INDEX moderation_claim_account_id_idx ON public.moderation_claim USING btree (account_id);

CREATE INDEX notification_account_id_idx ON public.notification USING btree (account_id, created DESC, id);

CREATE UNIQUE INDEX notification_cause_key ON public.notification USING btree (account_id, cause) WHERE (cause IS NOT NULL);

CREATE INDEX notification_invited_by_idx ON public.notification USING btree (((body ->> 'invited_by'::text))) WHERE ((body ->> 'invited_by'::text) IS NOT NULL);

CREATE INDEX notification_project_idx ON public.notification USING btree (((body ->> 'project_id'::text))) WHERE ((body ->> 'project_id'::text) IS NOT NULL);

CREATE INDEX notification_unread_idx ON public.notification USING btree (account_id) WHERE (NOT read);

CREATE INDEX notification_version_idx ON public.notification USING btree (((body ->> 'version_id'::text))) WHERE ((body ->> 'version_id'::text) IS NOT NULL);

CREATE INDEX oauth_authorization_account_id_idx ON public.oauth_authorization USING btree (account_id, created DESC, id);

CREATE INDEX oauth_client_account_id_idx ON public.oauth_client USING btree (account_id, created DESC, id);

CREATE INDEX oauth_code_account_id_idx ON public.oauth_code USING btree (account_id);

CREATE INDEX oauth_code_authorization_id_idx ON public.oauth_code USING btree (authorization_id, expires);

CREATE INDEX oauth_code_client_id_idx ON public.oauth_code USING btree (client_id);

CREATE INDEX oauth_code_expires_idx ON public.oauth_code USING btree (expires);

CREATE INDEX oauth_flow_account_id_idx ON public.oauth_flow USING btree (account_id, expires);

CREATE INDEX oauth_flow_client_id_idx ON public.oauth_flow USING btree (client_id);

CREATE INDEX oauth_flow_expires_idx ON public.oauth_flow USING btree (expires);

CREATE INDEX oauth_token_account_id_idx ON public.oauth_token USING btree (account_id);

CREATE INDEX oauth_token_authorization_id_idx ON public.oauth_token USING btree (authorization_id, created DESC);

CREATE INDEX oauth_token_client_id_idx ON public.oauth_token USING btree (client_id);

CREATE INDEX oauth_token_expires_idx ON public.oauth_token USING btree (expires);

CREATE INDEX organization_lower_id_idx ON public.organization USING btree (lower(id));

CREATE INDEX pack_created_idx ON public.pack USING btree (account_id, created DESC, id);

CREATE INDEX pack_previous_slug_pack_id_idx ON public.pack_previous_slug USING btree (pack_id);

CREATE INDEX pack_project_project_id_idx ON public.pack_project USING btree (project_id);

CREATE INDEX pack_save_lock_id_idx ON public.pack_save USING btree (lock_id);

CREATE INDEX page_version_published_by_idx ON public.page_version USING btree (published_by);

CREATE INDEX passkey_account_id_idx ON public.passkey USING btree (account_id);

CREATE INDEX payout_account_id_idx ON public.payout USING btree (account_id, created);

CREATE INDEX personal_access_token_account_id_idx ON public.personal_access_token USING btree (account_id);

CREATE INDEX personal_access_token_created_by_idx ON public.personal_access_token USING btree (created_by) WHERE (created_by IS NOT NULL);

CREATE INDEX previous_name_account_id_idx ON public.previous_name USING btree (account_id) WHERE (account_id IS NOT NULL);

CREATE INDEX previous_name_organization_id_idx ON public.previous_name USING btree (organization_id) WHERE (organization_id IS NOT NULL);

CREATE INDEX previous_name_project_id_idx ON public.previous_name USING btree (project_id) WHERE (project_id IS NOT NULL);

CREATE UNIQUE INDEX project_appeal_message_key ON public.project_appeal USING btree (message_id);

CREATE UNIQUE INDEX project_appeal_open_key ON public.project_appeal USING btree (project_id) WHERE (outcome IS NULL);

CREATE INDEX project_appeal_project_id_idx ON public.project_appeal USING btree (project_id);

CREATE UNIQUE INDEX project_appeal_result_key ON public.project_appeal USING btree (result_id) WHERE (result_id IS NOT NULL);

CREATE INDEX project_decision_account_id_idx ON public.project_decision USING btree (account_id);

CREATE INDEX project_decision_final_at_idx ON public.project_decision USING btree (final_at);

CREATE INDEX project_decision_snapshot_id_idx ON public.project_decision USING btree (snapshot_id);

CREATE INDEX project_decision_thread_message_id_idx ON public.project_decision USING btree (thread_message_id);

CREATE INDEX project_dependent_downloads_idx ON public.project_dependent USING btree (project_id, downloads DESC, dependent_id) INCLUDE (types, latest, versions);

CREATE INDEX project_dependent_updated_idx ON public.project_dependent USING btree (project_id, updated DESC, dependent_id) INCLUDE (types, latest, versions);

CREATE INDEX project_likeness_icon_idx ON public.project_likeness USING btree (icon, project_id) WHERE (icon IS NOT NULL);

CREATE INDEX project_likeness_letters_idx ON public.project_likeness USING gin (letters);

CREATE INDEX project_likeness_words_idx ON public.project_likeness USING gin (words);

CREATE INDEX project_link_hosts_idx ON public.project USING gin (link_hosts(link_urls));

CREATE INDEX project_lower_id_idx ON public.project USING btree (lower(id));

CREATE INDEX project_organization_id_idx ON public.project USING btree (organization_id);

CREATE INDEX project_queue_idx ON public.project USING btree (COALESCE(queued, published), id) WHERE (status = 'processing'::text);

CREATE INDEX project_random_idx ON public.project USING btree (random_key) INCLUDE (id) WHERE is_searchable(status);

CREATE INDEX project_scheduled_idx ON public.project USING btree (scheduled_at) WHERE (status = 'scheduled'::text);

CREATE INDEX project_snapshot_project_id_idx ON public.project_snapshot USING btree (project_id, id);

CREATE INDEX project_visibility_idx ON public.project USING btree (id) INCLUDE (status);

CREATE INDEX public_change_kind_idx ON public.public_change USING btree (kind, number);

CREATE INDEX public_change_project_id_idx ON public.public_change USING btree (project_id) WHERE (project_id IS NOT NULL);

CREATE INDEX public_change_removed_idx ON public.public_change USING btree (changed) WHERE (NOT is_present);

CREATE INDEX publisher_token_expires_idx ON public.publisher_token USING btree (expires);

CREATE INDEX publisher_token_project_id_idx ON public.publisher_token USING btree (project_id);

CREATE INDEX publisher_token_publisher_id_idx ON public.publisher_token USING btree (publisher_id);

CREATE INDEX removed_gallery_item_project_id_idx ON public.removed_gallery_item USING btree (project_id, url);

CREATE INDEX removed_gallery_item_removed_idx ON public.removed_gallery_item USING btree (removed);

CREATE INDEX report_account_id_idx ON public.report USING btree (account_id);

CREATE INDEX report_claim_account_id_idx ON public.report_claim USING btree (account_id);

CREATE INDEX report_item_idx ON public.report USING btree (item_type, item_id, created);

CREATE INDEX report_open_idx ON public.report USING btree (created, id) WHERE (NOT closed);

CREATE INDEX report_project_id_idx ON public.report USING btree (project_id);

CREATE INDEX report_reporter_id_idx ON public.report USING btree (reporter_id);

CREATE INDEX report_reporter_open_idx ON public.report USING btree (reporter_id, created, id) WHERE (NOT closed);

CREATE INDEX report_version_id_idx ON public.report USING btree (version_id);

CREATE INDEX reserved_username_account_id_idx ON public.reserved_username USING btree (account_id);

CREATE INDEX reserved_username_expires_idx ON public.reserved_username USING btree (expires);

CREATE INDEX revenue_share_account_id_idx ON public.revenue_share USING btree (account_id);

CREATE INDEX revenue_share_project_id_idx ON public.revenue_share USING btree (project_id, day);

CREATE INDEX saved_reply_position_idx ON public.saved_reply USING btree ("position", id);

CREATE INDEX search_change_transaction_idx ON public.search_change USING btree (transaction, project_id);

CREATE INDEX session_account_id_idx ON public.session USING btree (account_id);

CREATE INDEX session_refresh_expires_idx ON public.session USING btree (refresh_expires);

CREATE UNIQUE INDEX sign_up_block_domain_key ON public.sign_up_block USING btree (email_domain);

CREATE INDEX sign_up_block_ends_idx ON public.sign_up_block USING btree (ends) WHERE (ends IS NOT NULL);

CREATE UNIQUE INDEX sign_up_block_range_key ON public.sign_up_block USING btree (address_range);

CREATE INDEX stored_form_caller_idx ON public.stored_form USING btree (caller, expires);

CREATE INDEX stored_form_expires_idx ON public.stored_form USING btree (expires);

CREATE INDEX takedown_actor_id ON public.takedown USING btree (actor_id) WHERE (actor_id IS NOT NULL);

CREATE INDEX takedown_undone_by_id ON public.takedown USING btree (undone_by_id) WHERE (undone_by_id IS NOT NULL);

CREATE INDEX team_member_account_id_idx ON public.team_member USING btree (account_id);

CREATE UNIQUE INDEX team_member_owner_key ON public.team_member USING btree (team_id) WHERE is_owner;

CREATE INDEX terms_consent_version_idx ON public.terms_consent USING btree (version);

CREATE INDEX thread_message_author_id_idx ON public.thread_message USING btree (author_id);

CREATE INDEX thread_message_thread_id_idx ON public.thread_message USING btree (thread_id, created);

CREATE INDEX thread_unanswered_idx ON public.thread USING btree (unanswered_since, id) WHERE (unanswered_since IS NOT NULL);

CREATE INDEX trusted_publisher_created_by_idx ON public.trusted_publisher USING btree (created_by);

CREATE INDEX trusted_publisher_organization_id_idx ON public.trusted_publisher USING btree (organization_id);

CREATE INDEX trusted_publisher_repository_id_idx ON public.trusted_publisher USING btree (issuer, repository_id);

CREATE INDEX trusted_publisher_repository_idx ON public.trusted_publisher USING btree (issuer, lower(repository));

CREATE INDEX upload_account_id_idx ON public.upload USING btree (account_id);

CREATE INDEX upload_expires_idx ON public.upload USING btree (expires);

CREATE INDEX upload_version_id_idx ON public.upload USING btree (version_id) WHERE (version_id IS NOT NULL);

CREATE INDEX used_ci_token_expires_idx ON public.used_ci_token USING btree (expires);

CREATE INDEX user_note_author_id_idx ON public.user_note USING btree (author_id);

CREATE INDEX version_author_id_idx ON public.version USING btree (author_id);

CREATE INDEX version_draft_expires_idx ON public.version USING btree (draft_expires) WHERE (draft_expires IS NOT NULL);

CREATE INDEX version_list_idx ON public.version USING btree (project_id, ordering, number_key DESC NULLS LAST, date_published DESC, id) WHERE is_listed(status);

CREATE INDEX version_loaders_idx ON public.version USING gin (loaders) WHERE is_listed(status);

CREATE INDEX version_lock_last_read_idx ON public.version_lock USING btree (last_read);

CREATE INDEX version_project_id_idx ON public.version USING btree (project_id, date_published);

CREATE INDEX version_scan_pending_idx ON public.version_scan USING btree (next_attempt) WHERE (state = 'pending'::text);

CREATE INDEX version_scan_released_by_idx ON public.version_scan USING btree (released_by) WHERE (released_by IS NOT NULL);

CREATE INDEX version_scan_state_idx ON public.version_scan USING btree (state, requested, version_id) WHERE (state <> 'pass'::text);

CREATE INDEX version_scheduled_idx ON public.version USING btree (scheduled_at) WHERE (status = 'scheduled'::text);

CREATE INDEX version_visibility_idx ON public.version USING btree (id) INCLUDE (project_id, status, date_published);

CREATE INDEX version_withdrawn_idx ON public.version USING btree (project_id) WHERE (withdrawn_at IS NOT NULL);

CREATE INDEX version_withdrawn_replacement_idx ON public.version USING btree (withdrawn_replacement) WHERE (withdrawn_replacement IS NOT NULL);

CREATE INDEX webhook_account_id_idx ON public.webhook USING btree (account_id) WHERE (account_id IS NOT NULL);

CREATE INDEX webhook_active_idx ON public.webhook USING btree (id) WHERE active;

CREATE INDEX webhook_created_by_idx ON public.webhook USING btree (created_by) WHERE (created_by IS NOT NULL);

CREATE INDEX webhook_delivery_due_idx ON public.webhook_delivery USING btree (webhook_id, next_attempt) WHERE (state = 'pending'::text);

CREATE INDEX webhook_delivery_event_id_idx ON public.webhook_delivery USING btree (event_id);

CREATE INDEX webhook_delivery_subject_idx ON public.webhook_delivery USING btree (webhook_id, subject, sequence) WHERE (state = 'pending'::text);

CREATE INDEX webhook_delivery_webhook_id_idx ON public.webhook_delivery USING btree (webhook_id, sequence DESC);

CREATE INDEX webhook_instance_idx ON public.webhook USING btree (id) WHERE (owner_kind = 'instance'::text);

CREATE INDEX webhook_organization_id_idx ON public.webhook USING btree (organization_id) WHERE (organization_id IS NOT NULL);

CREATE INDEX webhook_project_id_idx ON public.webhook USING btree (project_id) WHERE (project_id IS NOT NULL);

CREATE TRIGGER account_password_revision BEFORE UPDATE OF password_hash ON public.account FOR EACH ROW WHEN (((old.password_hash IS NULL) <> (new.password_hash IS NULL))) EXECUTE FUNCTION bump_revision();

CREATE TRIGGER account_previous_name AFTER UPDATE OF username ON public.account FOR EACH ROW WHEN ((lower(old.username) <> lower(new.username))) EXECUTE FUNCTION record_previous_name('username');

CREATE TRIGGER account_revision BEFORE UPDATE ON public.account FOR EACH ROW EXECUTE FUNCTION raise_revision('totp_last_step', 'password_hash', 'password_is_temporary', 'passkey_count');

CREATE TRIGGER advisory_revision BEFORE UPDATE ON public.advisory FOR EACH ROW EXECUTE FUNCTION raise_revision();

CREATE TRIGGER audit_entry_append_only BEFORE DELETE OR UPDATE ON public.audit_entry FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();

CREATE TRIGGER audit_entry_no_truncate BEFORE TRUNCATE ON public.audit_entry FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();

CREATE TRIGGER collection_revision BEFORE UPDATE ON public.collection FOR EACH ROW EXECUTE FUNCTION raise_revision();

CREATE TRIGGER count_dependent_deleted AFTER DELETE ON public.project_dependent REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_dependents();

CREATE TRIGGER count_dependent_inserted AFTER INSERT ON public.project_dependent REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_dependents();

CREATE TRIGGER count_dependent_updated AFTER UPDATE ON public.project_dependent REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION count_dependents();

CREATE TRIGGER dependents_dependency_deleted AFTER DELETE ON public.dependency REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION dependents_of_dependencies_changed();

CREATE TRIGGER dependents_dependency_inserted AFTER INSERT ON public.dependency REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION dependents_of_dependencies_changed();

CREATE TRIGGER dependents_dependency_updated AFTER UPDATE ON public.dependency REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION dependents_of_dependencies_changed();

CREATE TRIGGER dependents_project_updated AFTER UPDATE ON public.project FOR EACH ROW WHEN (((is_searchable(old.status) <> is_searchable(new.status)) OR (is_searchable(new.status) AND ((old.updated <> new.updated) OR (download_rank(old.downloads) <> download_rank(new.downloads)))))) EXECUTE FUNCTION dependents_of_project_updated();

CREATE TRIGGER dependents_version_deleted AFTER DELETE ON public.version REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION dependents_of_versions_changed();

CREATE TRIGGER dependents_version_inserted AFTER INSERT ON public.version REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION dependents_of_versions_changed();

CREATE TRIGGER dependents_version_updated AFTER UPDATE ON public.version REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION dependents_of_versions_updated();

CREATE TRIGGER feed_account_deleted AFTER DELETE ON public.account FOR EACH ROW EXECUTE FUNCTION public_subject_changed('user');

CREATE TRIGGER feed_account_updated AFTER UPDATE ON public.account FOR EACH ROW WHEN ((old.revision <> new.revision)) EXECUTE FUNCTION public_subject_changed('user');

CREATE TRIGGER feed_advisory_deleted AFTER DELETE ON public.advisory FOR EACH ROW WHEN (is_public_advisory(old.status)) EXECUTE FUNCTION public_subject_changed('advisory');

CREATE TRIGGER feed_advisory_inserted AFTER INSERT ON public.advisory FOR EACH ROW WHEN (is_public_advisory(new.status)) EXECUTE FUNCTION public_subject_changed('advisory');

CREATE TRIGGER feed_advisory_updated AFTER UPDATE ON public.advisory FOR EACH ROW WHEN (((old.revision <> new.revision) AND (is_public_advisory(old.status) OR is_public_advisory(new.status)))) EXECUTE FUNCTION public_subject_changed('advisory');

CREATE TRIGGER feed_author_deleted AFTER DELETE ON public.author FOR EACH ROW WHEN ((old.teams > 0)) EXECUTE FUNCTION public_author_changed();

CREATE TRIGGER feed_author_inserted AFTER INSERT ON public.author FOR EACH ROW WHEN ((new.teams > 0)) EXECUTE FUNCTION public_author_changed();

CREATE TRIGGER feed_author_updated AFTER UPDATE ON public.author FOR EACH ROW WHEN (((old.teams > 0) <> (new.teams > 0))) EXECUTE FUNCTION public_author_changed();

CREATE TRIGGER feed_collection_deleted AFTER DELETE ON public.collection FOR EACH ROW WHEN ((old.status = 'listed'::text)) EXECUTE FUNCTION public_subject_changed('collection');

CREATE TRIGGER feed_collection_inserted AFTER INSERT ON public.collection FOR EACH ROW WHEN ((new.status = 'listed'::text)) EXECUTE FUNCTION public_subject_changed('collection');

CREATE TRIGGER feed_collection_updated AFTER UPDATE ON public.collection FOR EACH ROW WHEN (((old.revision <> new.revision) AND (('listed'::text = old.status) OR ('listed'::text = new.status)))) EXECUTE FUNCTION public_subject_changed('collection');

CREATE TRIGGER feed_organization_deleted AFTER DELETE ON public.organization FOR EACH ROW EXECUTE FUNCTION public_subject_changed('organization');

CREATE TRIGGER feed_organization_updated AFTER UPDATE ON public.organization FOR EACH ROW WHEN ((old.revision <> new.revision)) EXECUTE FUNCTION public_subject_changed('organization');

CREATE TRIGGER feed_owner_deleted AFTER DELETE ON public.project FOR EACH ROW WHEN ((is_searchable(old.status) AND (old.organization_id IS NOT NULL))) EXECUTE FUNCTION public_owner_changed();

CREATE TRIGGER feed_owner_inserted AFTER INSERT ON public.project FOR EACH ROW WHEN ((is_searchable(new.status) AND (new.organization_id IS NOT NULL))) EXECUTE FUNCTION public_owner_changed();

CREATE TRIGGER feed_owner_updated AFTER UPDATE OF status, organization_id ON public.project FOR EACH ROW WHEN (((is_searchable(old.status) <> is_searchable(new.status)) OR (old.organization_id IS DISTINCT FROM new.organization_id))) EXECUTE FUNCTION public_owner_changed();

CREATE TRIGGER feed_project_deleted AFTER DELETE ON public.project FOR EACH ROW WHEN (is_searchable(old.status)) EXECUTE FUNCTION public_subject_changed('project');

CREATE TRIGGER feed_project_inserted AFTER INSERT ON public.project FOR EACH ROW WHEN (is_searchable(new.status)) EXECUTE FUNCTION public_subject_changed('project');

CREATE TRIGGER feed_project_updated AFTER UPDATE ON public.project FOR EACH ROW WHEN (((old.revision <> new.revision) AND (is_searchable(old.status) OR is_searchable(new.status)))) EXECUTE FUNCTION public_subject_changed('project');

CREATE TRIGGER feed_version_deleted AFTER DELETE ON public.version FOR EACH ROW WHEN (is_listed(old.status)) EXECUTE FUNCTION public_subject_changed('version');

CREATE TRIGGER feed_version_inserted AFTER INSERT ON public.version FOR EACH ROW WHEN (is_listed(new.status)) EXECUTE FUNCTION public_subject_changed('version');

CREATE TRIGGER feed_version_updated AFTER UPDATE ON public.version FOR EACH ROW WHEN (((old.revision <> new.revision) AND (is_listed(old.status) OR is_listed(new.status)))) EXECUTE FUNCTION public_subject_changed('version');

CREATE TRIGGER file_address_kept AFTER INSERT ON public.file FOR EACH ROW EXECUTE FUNCTION keep_file_address();

CREATE TRIGGER file_deleted AFTER DELETE ON public.file REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION files_counted();

CREATE TRIGGER file_inserted AFTER INSERT ON public.file REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION files_counted();

CREATE TRIGGER instance_settings_revision BEFORE UPDATE ON public.instance_settings FOR EACH ROW EXECUTE FUNCTION bump_revision();

CREATE CONSTRAINT TRIGGER maven_files_added AFTER INSERT OR UPDATE OF file_type ON public.file DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION maven_files_changed();

CREATE CONSTRAINT TRIGGER maven_files_listed AFTER UPDATE OF status ON public.version DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((is_listed(new.status) AND (NOT is_listed(old.status)))) EXECUTE FUNCTION maven_files_changed();

CREATE CONSTRAINT TRIGGER maven_files_shown AFTER UPDATE OF status ON public.project DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((old.status <> new.status)) EXECUTE FUNCTION maven_files_changed();

CREATE TRIGGER member_accepted AFTER UPDATE OF accepted ON public.team_member FOR EACH ROW WHEN ((old.accepted <> new.accepted)) EXECUTE FUNCTION member_counted();

CREATE TRIGGER member_deleted AFTER DELETE ON public.team_member FOR EACH ROW WHEN (old.accepted) EXECUTE FUNCTION member_counted();

CREATE TRIGGER member_inserted AFTER INSERT ON public.team_member FOR EACH ROW WHEN (new.accepted) EXECUTE FUNCTION member_counted();

CREATE TRIGGER organization_previous_name AFTER UPDATE OF slug ON public.organization FOR EACH ROW WHEN ((old.slug <> new.slug)) EXECUTE FUNCTION record_previous_name('slug');

CREATE TRIGGER organization_revision BEFORE UPDATE ON public.organization FOR EACH ROW EXECUTE FUNCTION raise_revision();

CREATE TRIGGER pack_revision BEFORE UPDATE ON public.pack FOR EACH ROW EXECUTE FUNCTION raise_revision();

CREATE TRIGGER project_deleted BEFORE DELETE ON public.project FOR EACH ROW WHEN (is_searchable(old.status)) EXECUTE FUNCTION project_counted();

CREATE TRIGGER project_imported BEFORE INSERT ON public.project FOR EACH ROW WHEN ((new.downloads > 0)) EXECUTE FUNCTION keep_imported_downloads();

CREATE TRIGGER project_inserted AFTER INSERT ON public.project FOR EACH ROW WHEN (is_searchable(new.status)) EXECUTE FUNCTION project_counted();

CREATE TRIGGER project_likeness_kept AFTER INSERT ON public.project FOR EACH ROW EXECUTE FUNCTION keep_likeness();

CREATE TRIGGER project_likeness_renamed AFTER UPDATE OF name ON public.project FOR EACH ROW WHEN ((old.name <> new.name)) EXECUTE FUNCTION keep_likeness();

CREATE TRIGGER project_moved AFTER UPDATE OF status, organization_id ON public.project FOR EACH ROW WHEN (((is_searchable(old.status) OR is_searchable(new.status)) AND ((is_searchable(old.status) <> is_searchable(new.status)) OR (old.organization_id IS DISTINCT FROM new.organization_id)))) EXECUTE FUNCTION project_counted();

CREATE TRIGGER project_previous_name AFTER UPDATE OF slug ON public.project FOR EACH ROW WHEN ((old.slug <> new.slug)) EXECUTE FUNCTION record_previous_name('slug');

CREATE TRIGGER project_revision BEFORE UPDATE ON public.project FOR EACH ROW WHEN (((old.downloads = new.downloads) AND (old.followers = new.followers))) EXECUTE FUNCTION raise_revision('imported_downloads', 'random_key');

CREATE TRIGGER project_versions_ordered AFTER UPDATE OF version_order ON public.project FOR EACH ROW WHEN ((old.version_order <> new.version_order)) EXECUTE FUNCTION order_versions();

CREATE TRIGGER revise_collected_deleted AFTER DELETE ON public.collection_project REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION raise_owners('collection', 'id', 'collection_id');

CREATE TRIGGER revise_collected_inserted AFTER INSERT ON public.collection_project REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION raise_owners('collection', 'id', 'collection_id');

CREATE TRIGGER revise_collected_updated AFTER UPDATE ON public.collection_project REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION raise_owners_updated('collection', 'id', 'collection_id');

CREATE TRIGGER revise_dependency_deleted AFTER DELETE ON public.dependency REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION raise_owners('version', 'id', 'dependent_id');

CREATE TRIGGER revise_dependency_inserted AFTER INSERT ON public.dependency REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION raise_owners('version', 'id', 'dependent_id');

CREATE TRIGGER revise_dependency_updated AFTER UPDATE ON public.dependency REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION raise_owners_updated('version', 'id', 'dependent_id');

CREATE TRIGGER revise_file_deleted AFTER DELETE ON public.file REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION raise_owners('version', 'id', 'version_id');

CREATE TRIGGER revise_file_inserted AFTER INSERT ON public.file REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION raise_owners('version', 'id', 'version_id');

CREATE TRIGGER revise_file_updated AFTER UPDATE ON public.file REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION raise_owners_updated('version', 'id', 'version_id');

CREATE TRIGGER revise_gallery_deleted AFTER DELETE ON public.gallery_item REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION raise_owners('project', 'id', 'project_id');

CREATE TRIGGER revise_gallery_inserted AFTER INSERT ON public.gallery_item REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION raise_owners('project', 'id', 'project_id');

CREATE TRIGGER revise_gallery_updated AFTER UPDATE ON public.gallery_item REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION raise_owners_updated('project', 'id', 'project_id');

CREATE TRIGGER revise_member_1_deleted AFTER DELETE ON public.team_member REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION raise_owners('organization', 'team_id', 'team_id');

CREATE TRIGGER revise_member_1_inserted AFTER INSERT ON public.team_member REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION raise_owners('organization', 'team_id', 'team_id');

CREATE TRIGGER revise_member_1_updated AFTER UPDATE ON public.team_member REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION raise_owners_updated('organization', 'team_id', 'team_id');

CREATE TRIGGER revise_member_2_deleted AFTER DELETE ON public.team_member REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION raise_owners('team', 'id', 'team_id');

CREATE TRIGGER revise_member_2_inserted AFTER INSERT ON public.team_member REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION raise_owners('team', 'id', 'team_id');

CREATE TRIGGER revise_member_2_updated AFTER UPDATE ON public.team_member REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION raise_owners_updated('team', 'id', 'team_id');

CREATE TRIGGER revise_project_moved AFTER UPDATE OF status ON public.project FOR EACH ROW WHEN ((old.status <> new.status)) EXECUTE FUNCTION raise_collections();

CREATE TRIGGER revise_thread_deleted AFTER DELETE ON public.thread REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION raise_owners('project', 'id', 'project_id');

CREATE TRIGGER revise_thread_inserted AFTER INSERT ON public.thread REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION raise_owners('project', 'id', 'project_id');

CREATE TRIGGER revise_version_deleted AFTER DELETE ON public.version REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION raise_projects_of_versions();

CREATE TRIGGER revise_version_inserted AFTER INSERT ON public.version REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION raise_projects_of_versions();

CREATE TRIGGER revise_version_updated AFTER UPDATE ON public.version REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION raise_projects_of_versions_updated();

CREATE TRIGGER search_account_renamed AFTER UPDATE OF username ON public.account FOR EACH ROW WHEN ((old.username IS DISTINCT FROM new.username)) EXECUTE FUNCTION search_account_renamed();

CREATE TRIGGER search_dependency_deleted AFTER DELETE ON public.dependency REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION search_dependencies_changed();

CREATE TRIGGER search_dependency_inserted AFTER INSERT ON public.dependency REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION search_dependencies_changed();

CREATE TRIGGER search_dependency_updated AFTER UPDATE ON public.dependency REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION search_dependencies_updated();

CREATE TRIGGER search_gallery_deleted AFTER DELETE ON public.gallery_item REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION search_gallery_changed();

CREATE TRIGGER search_gallery_inserted AFTER INSERT ON public.gallery_item REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION search_gallery_changed();

CREATE TRIGGER search_gallery_updated AFTER UPDATE ON public.gallery_item REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION search_gallery_updated();

CREATE TRIGGER search_organization_renamed AFTER UPDATE OF name, team_id ON public.organization FOR EACH ROW WHEN (((old.name IS DISTINCT FROM new.name) OR (old.team_id <> new.team_id))) EXECUTE FUNCTION search_organization_renamed();

CREATE TRIGGER search_owner_deleted AFTER DELETE ON public.team_member REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION search_owners_changed();

CREATE TRIGGER search_owner_inserted AFTER INSERT ON public.team_member REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION search_owners_changed();

CREATE TRIGGER search_owner_updated AFTER UPDATE ON public.team_member REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION search_owners_updated();

CREATE TRIGGER search_project_deleted AFTER DELETE ON public.project REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION search_projects_deleted();

CREATE TRIGGER search_project_inserted AFTER INSERT ON public.project REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION search_projects_inserted();

CREATE TRIGGER search_project_updated AFTER UPDATE ON public.project REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION search_projects_updated();

CREATE TRIGGER search_version_deleted AFTER DELETE ON public.version REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION search_versions_changed();

CREATE TRIGGER search_version_inserted AFTER INSERT ON public.version REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION search_versions_changed();

CREATE TRIGGER search_version_updated AFTER UPDATE ON public.version REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION search_versions_updated();

CREATE TRIGGER tag_list_revision BEFORE UPDATE ON public.tag_list FOR EACH ROW EXECUTE FUNCTION bump_revision();

CREATE TRIGGER team_member_leaving BEFORE INSERT ON public.team_member FOR EACH ROW EXECUTE FUNCTION refuse_leaving_member();

CREATE TRIGGER version_coordinate_inserted AFTER INSERT ON public.version FOR EACH ROW WHEN (is_listed(new.status)) EXECUTE FUNCTION claim_version_coordinate();

CREATE TRIGGER version_coordinate_updated AFTER UPDATE OF status, version_number ON public.version FOR EACH ROW WHEN ((is_listed(new.status) AND ((NOT is_listed(old.status)) OR (old.version_number <> new.version_number)))) EXECUTE FUNCTION claim_version_coordinate();

CREATE TRIGGER version_deleted BEFORE DELETE ON public.version FOR EACH ROW WHEN (is_listed(old.status)) EXECUTE FUNCTION version_counted();

CREATE TRIGGER version_imported BEFORE INSERT ON public.version FOR EACH ROW WHEN ((new.downloads > 0)) EXECUTE FUNCTION keep_imported_downloads();

CREATE TRIGGER version_inserted AFTER INSERT ON public.version REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION versions_inserted();

CREATE TRIGGER version_moved AFTER UPDATE OF status ON public.version FOR EACH ROW WHEN ((is_listed(old.status) <> is_listed(new.status))) EXECUTE FUNCTION version_counted();

CREATE TRIGGER version_number_keyed BEFORE INSERT OR UPDATE OF version_number ON public.version FOR EACH ROW EXECUTE FUNCTION set_number_key();

CREATE TRIGGER version_revision BEFORE UPDATE ON public.version FOR EACH ROW WHEN ((old.downloads = new.downloads)) EXECUTE FUNCTION raise_revision('imported_downloads', 'number_key');

CREATE OR REPLACE FUNCTION public.add_dependents(added dependent_count[])
 RETURNS void
 LANGUAGE sql
AS $function$
  insert into dependent_count as present select * from unnest(added) order by 1, 2, 3
    on conflict (project_id, types, latest) do update set total = present.total + excluded.total;
  delete from dependent_count using unnest(added) as removed
    where dependent_count.project_id = removed.project_id and dependent_count.types = removed.types
      and dependent_count.latest = removed.latest and removed.total < 0 and dependent_count.total = 0;
$function$;

CREATE OR REPLACE FUNCTION public.bump_revision()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.revision := old.revision + 1;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.catalogue_recount(OUT projects bigint, OUT versions bigint, OUT files bigint, OUT authors bigint)
 RETURNS record
 LANGUAGE sql
 STABLE
AS $function$
  with shown as (select id, team_id, organization_id from project where is_searchable(status)),
  listed as (select version.id from version join shown on shown.id = version.project_id where is_listed(version.status)),
  teams as (
    select team_id from shown union
    select organization.team_id from organization join shown on shown.organization_id = organization.id)
  select
    (select count(*) from shown),
    (select count(*) from listed),
    (select count(*) from file join listed on listed.id = file.version_id),
    (select count(distinct account_id) from team_member join teams using (team_id) where accepted)
$function$;

CREATE OR REPLACE FUNCTION public.claim_version_coordinate()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into version_coordinate (project_id, version_number, version_id)
    values (new.project_id, new.version_number, new.id) on conflict do nothing;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.count_author(changed_account text, difference integer)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  now_teams integer;
begin
  insert into author (account_id, teams) values (changed_account, difference)
    on conflict (account_id) do update set teams = author.teams + difference
    returning teams into now_teams;
  if now_teams = 0 then
    insert into catalogue_change (authors) values (-1);
  elsif now_teams = difference then
    insert into catalogue_change (authors) values (1);
  end if;
end
$function$;

CREATE OR REPLACE FUNCTION public.count_dependents()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'UPDATE' then
    perform add_dependents(array(
      select (project_id, types, latest, sum(number))::dependent_count from (
        select project_id, types, latest, 1 as number from after union all select project_id, types, latest, -1 from before
      ) moved group by project_id, types, latest having sum(number) <> 0));
  else
    perform add_dependents(array(
      select (project_id, types, latest, count(*) * case tg_op when 'INSERT' then 1 else -1 end)::dependent_count
      from changed group by project_id, types, latest));
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.count_project(changed project, difference integer)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  insert into catalogue_change (projects, versions, files)
    select difference, difference * count(distinct version.id), difference * count(file.id)
    from version left join file on file.version_id = version.id
    where version.project_id = changed.id and is_listed(version.status);
  perform count_team(changed.team_id, difference);
  perform count_team(organization_team(changed.organization_id), difference);
end
$function$;

CREATE OR REPLACE FUNCTION public.count_team(changed_team text, difference integer)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  now_published integer;
begin
  if changed_team is null then
    return;
  end if;
  update team set published = published + difference where id = changed_team returning published into now_published;
  if now_published = 0 or now_published = difference then
    perform count_author(member.account_id, difference) from (
      select account_id from team_member where team_id = changed_team and accepted order by account_id) member;
  end if;
end
$function$;

CREATE OR REPLACE FUNCTION public.dependents_of_dependencies_changed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  ids text[];
begin
  if tg_op = 'UPDATE' then
    ids := array(select dependent_id from (
      (select dependent_id, project_id, dependency_type from after
        except all select dependent_id, project_id, dependency_type from before)
      union all
      (select dependent_id, project_id, dependency_type from before
        except all select dependent_id, project_id, dependency_type from after)) shown);
  else
    ids := array(select dependent_id from changed);
  end if;
  -- The versions of a deleted project are no longer there; their own deletion is a change.
  perform refresh_dependents((
    select array_agg(distinct project_id) from version where id = any(ids) and is_listed(status)));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.dependents_of_project_updated()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if is_searchable(old.status) <> is_searchable(new.status) then
    perform refresh_dependents(array[new.id]);
  else
    update project_dependent set downloads = download_rank(new.downloads), updated = new.updated
      where dependent_id = new.id;
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.dependents_of_versions_changed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  -- A new version has no dependencies yet. It changes `latest` of those that its project has.
  perform refresh_dependents((
    select array_agg(distinct project_id) from changed where is_listed(status)
      and exists (select from project_dependent where dependent_id = changed.project_id)));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.dependents_of_versions_updated()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform refresh_dependents((
    select array_agg(distinct project_id) from (
      (select project_id, id, date_published, ordering from after where is_listed(status)
        except select project_id, id, date_published, ordering from before where is_listed(status))
      union all
      (select project_id, id, date_published, ordering from before where is_listed(status)
        except select project_id, id, date_published, ordering from after where is_listed(status))
    ) shown));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.download_rank(downloads bigint)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select trunc(downloads::numeric, least(0, 3 - length(downloads::text)))::bigint
$function$;

CREATE OR REPLACE FUNCTION public.files_counted()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  difference constant integer := case when tg_op = 'DELETE' then -1 else 1 end;
begin
  with touched as materialized (
    select version.project_id, count(*) as files
    from changed join version on version.id = changed.version_id
    where is_listed(version.status)
    group by version.project_id
    order by version.project_id
  )
  insert into catalogue_change (files)
    select difference * sum(touched.files)::bigint from touched
    where is_searchable(held_status(touched.project_id))
    having count(*) > 0;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.folded_name(name text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog'
AS $function$
  select replace(replace(translate(
    regexp_replace(regexp_replace(lower(normalize(name, NFKD)), '[\u0300-\u036f]', '', 'g'),
      '[\s\u0021-\u0023\u0025-\u002f\u003a-\u003f\u005b-\u0060\u007b\u007d\u007e\u2000-\u206f\u3000-\u303f]+', ' ', 'g'),
    '013457|@$авеёкмнорстухіјѕԁԛԝɑοαερικντυχɩıøđłß',
    'oleastlasabeekmhopctyxijsdqwaoaepikvtuxiiodls'), 'rn', 'm'), 'vv', 'w')
$function$;

CREATE OR REPLACE FUNCTION public.held_status(held_project text)
 RETURNS text
 LANGUAGE sql
AS $function$
  select status from project where id = held_project for no key update
$function$;

CREATE OR REPLACE FUNCTION public.is_listed(status text)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select status in ('listed', 'archived')
$function$;

CREATE OR REPLACE FUNCTION public.is_public_advisory(status text)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select status in ('published', 'withdrawn')
$function$;

CREATE OR REPLACE FUNCTION public.is_searchable(status text)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select status in ('approved', 'archived')
$function$;

CREATE OR REPLACE FUNCTION public.keep_file_address()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  kept text;
begin
  insert into file_address (version_id, filename, sha512) values (new.version_id, new.filename, new.sha512)
    on conflict (version_id, filename) do update set sha512 = file_address.sha512
    returning sha512 into kept;
  if kept <> new.sha512 then
    raise unique_violation using
      constraint = 'file_address_key',
      message = 'The name was used for other bytes in this version';
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.keep_imported_downloads()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.imported_downloads := new.downloads;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.keep_likeness()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into project_likeness (project_id, letters, words) values (new.id, name_letters(new.name), name_words(new.name))
    on conflict (project_id) do update set letters = excluded.letters, words = excluded.words;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.keep_maven_files(version_ids text[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  public_id text;
  kept record;
begin
  for public_id in
    select version.id from version join project on project.id = version.project_id
    where version.id = any(version_ids) and is_listed(version.status)
      and project.status in ('approved', 'archived', 'unlisted', 'withheld')
  loop
    for kept in select * from maven_files(array[public_id]) loop
      update file_address set coordinates = coordinates || kept.ending
      where version_id = public_id and filename = kept.filename and not kept.ending = any(coordinates);
    end loop;
  end loop;
end
$function$;

CREATE OR REPLACE FUNCTION public.lacks_version(needed_id text, lost_id text, lost_loaders text[], lost_fields jsonb, wanted_loaders text[], wanted_fields jsonb)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  with wanted as (select loaders_of(wanted_loaders, wanted_fields) as loaders),
  candidate as (
    select version.id, version.fields, version.withdrawn_at is null as is_offered, version.loaders && wanted.loaders as runs
    from version, wanted where version.project_id = needed_id and is_listed(version.status)
  ), rule as (
    select coalesce(lost_loaders && wanted.loaders, false) as lost_runs,
      coalesce(lost_loaders && wanted.loaders, false) or exists (select from candidate where candidate.runs) as by_loader
    from wanted
  )
  select (lost_id is null or (not rule.by_loader or rule.lost_runs) and share_game_version(lost_fields, wanted_fields))
    and not exists (
      select from candidate where candidate.is_offered and candidate.id is distinct from lost_id
        and (not rule.by_loader or candidate.runs) and share_game_version(candidate.fields, wanted_fields))
  from rule
$function$;

CREATE OR REPLACE FUNCTION public.link_hosts(urls jsonb)
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select coalesce(array_agg(distinct lower(substring(value from '^https?://([^/:?#]+)'))), '{}') from jsonb_each_text(urls)
$function$;

CREATE OR REPLACE FUNCTION public.loaders_of(loaders text[], fields jsonb)
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select loaders || case jsonb_typeof(fields -> 'mrpack_loaders')
    when 'array' then array(select jsonb_array_elements_text(fields -> 'mrpack_loaders')) else '{}' end
$function$;

CREATE OR REPLACE FUNCTION public.maven_ending(filename text, file_type text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select coalesce('-' || case when file_type is null or file_type = 'unknown'
      then coalesce(substring(lower(filename) from '-(sources|javadoc|dev)\.[a-z0-9]{1,16}$'), file_type)
      else regexp_replace(file_type, '-jar$', '') end, '')
    || substring(lower(filename) from '\.[a-z0-9]{1,16}$')
$function$;

CREATE OR REPLACE FUNCTION public.maven_files(version_ids text[])
 RETURNS TABLE(version_id text, ending text, filename text)
 LANGUAGE sql
 STABLE
AS $function$
  select distinct on (found.version_id, found.ending) found.version_id, found.ending, found.filename from (
    select version_id, unnest(coordinates) as ending, filename, true as is_kept, false as is_named, false as is_primary
    from file_address where version_id = any(version_ids)
    union all
    select version.id, named.ending, file.filename, false,
      lower(file.filename) = lower(project.slug || '-' || version.version_number || named.ending), file.is_primary
    from version join project on project.id = version.project_id join file on file.version_id = version.id
      cross join lateral maven_ending(file.filename, file.file_type) as named (ending)
    where version.id = any(version_ids)) found
  where found.ending is not null
  order by found.version_id, found.ending, found.is_kept desc, found.is_named desc, found.is_primary desc, found.filename
$function$;

CREATE OR REPLACE FUNCTION public.maven_files_changed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_table_name = 'project' then
    perform keep_maven_files(array(select id from version where project_id = new.id));
  elsif tg_table_name = 'version' then
    perform keep_maven_files(array[new.id]);
  elsif not exists (select from file_address where version_id = new.version_id
      and maven_ending(new.filename, new.file_type) = any(coordinates)) then
    perform keep_maven_files(array[new.version_id]);
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.member_counted()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  member constant team_member := case when tg_op = 'DELETE' then old else new end;
begin
  if (select published > 0 from team where id = member.team_id for no key update) then
    perform count_author(member.account_id, case when tg_op = 'DELETE' or not new.accepted then -1 else 1 end);
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.name_letters(name text)
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'public', 'pg_catalog'
AS $function$
  select coalesce(array_agg(distinct case at when 0 then letters else left(letters, at - 1) || substr(letters, at + 1) end), '{}')
  from (select replace(folded_name(name), ' ', '') as letters) folded,
    generate_series(0, case when length(letters) >= 4 then least(length(letters), 64) else 0 end) at
  where letters <> ''
$function$;

CREATE OR REPLACE FUNCTION public.name_words(name text)
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'public', 'pg_catalog'
AS $function$
  select coalesce(array_agg(distinct case when length(word) > 3 then rtrim(word, 's') else word end), '{}')
  from regexp_split_to_table(folded_name(name), ' ') word
  where word <> '' and word <> all (array['a', 'an', 'and', 'by', 'for', 'in', 'of', 'on', 'the', 'to', 'with', 'mod', 'mods',
    'pack', 'plugin', 'addon', 'edition', 'continued', 'fork', 'port', 'rebom', 'redux', 'remastered', 'unofficial', 'updated'])
$function$;

CREATE OR REPLACE FUNCTION public.note_public_change(changed_kind text, changed_id text)
 RETURNS void
 LANGUAGE sql
AS $function$
  insert into public_change_note (kind, subject_id) values (changed_kind, changed_id) on conflict do nothing
$function$;

CREATE OR REPLACE FUNCTION public.note_search_change(changed_ids text[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  if changed_ids is null then
    return;
  end if;
  delete from search_change where ctid = any(array(
    select ctid from search_change
    where project_id = any(changed_ids) and transaction <> pg_current_xact_id()
    for update skip locked));
  insert into search_change (project_id, transaction)
    select distinct changed.id, pg_current_xact_id() from unnest(changed_ids) as changed (id) where changed.id is not null
    on conflict do nothing;
end
$function$;

CREATE OR REPLACE FUNCTION public.note_search_owners(team_ids text[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  if team_ids is null then
    return;
  end if;
  perform note_search_change((
    select array_agg(project.id) from project
    where project.team_id = any(team_ids)
      or project.organization_id in (select id from organization where team_id = any(team_ids))));
end
$function$;

CREATE OR REPLACE FUNCTION public.number_public_changes(batch integer)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
declare
  head public_change_head;
  noted_kinds text[];
  noted_ids text[];
  moved text[];
begin
  if not exists (select from public_change_note) then
    return false;
  end if;
  select * into head from public_change_head for update skip locked;
  if not found then
    return false;
  end if;
  if head.database <> public_change_database() then
    update public_change_head set epoch = random_base62(8), database = public_change_database();
  end if;
  with taken as (
    delete from public_change_note
    where (transaction, kind, subject_id) in (
      select transaction, kind, subject_id from public_change_note order by transaction limit batch)
    returning kind, subject_id, transaction
  ), subject as (
    select kind, subject_id, max(transaction) as transaction from taken group by kind, subject_id
  )
  select array_agg(kind order by transaction, kind = 'version', kind, subject_id),
    array_agg(subject_id order by transaction, kind = 'version', kind, subject_id)
  into noted_kinds, noted_ids from subject;
  if noted_ids is null then
    return false;
  end if;

  moved := array(select number_subjects(noted_kinds, noted_ids));
  if cardinality(moved) > 0 then
    with version_of_moved as (
      select version.id from version where version.project_id = any(moved) and is_listed(version.status)
      union
      select subject_id from public_change where project_id = any(moved) and is_present
    )
    select array_agg('version'::text), array_agg(id order by id) into noted_kinds, noted_ids from version_of_moved;
    perform number_subjects(noted_kinds, noted_ids);
  end if;
  return true;
end
$function$;

CREATE OR REPLACE FUNCTION public.number_subjects(kinds text[], ids text[])
 RETURNS SETOF text
 LANGUAGE sql
AS $function$
  with changed as (
    select subject.kind, subject.id, subject.place, state.project_id, coalesce(state.is_present, false) as is_present,
      state.revision, coalesce(known.is_present, false) as was_present
    from unnest(kinds, ids) with ordinality as subject (kind, id, place)
    left join public_states(kinds, ids) state on state.kind = subject.kind and state.subject_id = subject.id
    left join public_change known on known.kind = subject.kind and known.subject_id = subject.id
    where case when coalesce(state.is_present, false)
      then known.is_present is distinct from true or known.revision <> state.revision
      else known.is_present end
  ), head as (
    update public_change_head set last = last + (select count(*) from changed)
    where exists (select from changed) returning last
  ), numbered as (
    insert into public_change (kind, subject_id, number, project_id, is_present, revision, changed)
    select kind, id, (select last from head) - count(*) over () + row_number() over (order by place), project_id, is_present,
      coalesce(revision, 1), now()
    from changed
    on conflict (kind, subject_id) do update set number = excluded.number,
      project_id = coalesce(excluded.project_id, public_change.project_id), is_present = excluded.is_present,
      revision = case when excluded.is_present then excluded.revision else public_change.revision end,
      changed = excluded.changed
  )
  select id from changed where kind = 'project' and is_present <> was_present
$function$;

CREATE OR REPLACE FUNCTION public.order_versions()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update version set number_key = case when new.version_order = 'number' then version_number_key(version_number) end
    where project_id = new.id;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.organization_team(owner_id text)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  select team_id from organization where id = owner_id
$function$;

CREATE OR REPLACE FUNCTION public.project_counted()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'INSERT' then
    perform count_project(new, 1);
  elsif tg_op = 'DELETE' then
    perform count_project(old, -1);
    return old;
  elsif is_searchable(old.status) and is_searchable(new.status) then
    -- Its team never changes; its organization may.
    perform count_team(organization_team(old.organization_id), -1);
    perform count_team(organization_team(new.organization_id), 1);
  elsif is_searchable(old.status) then
    perform count_project(old, -1);
  else
    perform count_project(new, 1);
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.public_author_changed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform note_public_change('user', case when tg_op = 'DELETE' then old.account_id else new.account_id end);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.public_change_database()
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  select concat_ws('.', (select system_identifier from pg_control_system()),
    (select timeline_id from pg_control_checkpoint()),
    (select oid from pg_database where datname = current_database()), 'public_change'::regclass::oid)
$function$;

CREATE OR REPLACE FUNCTION public.public_owner_changed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op <> 'INSERT' and old.organization_id is not null then
    perform note_public_change('organization', old.organization_id);
  end if;
  if tg_op <> 'DELETE' and new.organization_id is not null then
    perform note_public_change('organization', new.organization_id);
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.public_states(kinds text[], ids text[])
 RETURNS TABLE(kind text, subject_id text, project_id text, is_present boolean, revision bigint)
 LANGUAGE sql
 STABLE
AS $function$
  with subject as (select * from unnest(kinds, ids) as subject (kind, id))
  select 'project', project.id, null, is_searchable(project.status), project.revision
    from subject join project on project.id = subject.id where subject.kind = 'project'
  union all
  select 'version', version.id, version.project_id, is_listed(version.status) and is_searchable(project.status), version.revision
    from subject join version on version.id = subject.id join project on project.id = version.project_id
    where subject.kind = 'version'
  union all
  select 'user', account.id, null, account.deletion_due is null and coalesce(author.teams, 0) > 0, account.revision
    from subject join account on account.id = subject.id left join author on author.account_id = account.id
    where subject.kind = 'user'
  union all
  select 'organization', organization.id, null,
      exists (select from project where organization_id = organization.id and is_searchable(status)), organization.revision
    from subject join organization on organization.id = subject.id where subject.kind = 'organization'
  union all
  select 'collection', collection.id, null, collection.status = 'listed', collection.revision
    from subject join collection on collection.id = subject.id where subject.kind = 'collection'
  union all
  select 'advisory', advisory.id, null, is_public_advisory(advisory.status), advisory.revision
    from subject join advisory on advisory.id = subject.id where subject.kind = 'advisory'
$function$;

CREATE OR REPLACE FUNCTION public.public_subject_changed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform note_public_change(tg_argv[0], case when tg_op = 'DELETE' then old.id else new.id end);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.raise_collections()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform raise_revisions('collection', 'id', (
    select array_agg(collection_id) from collection_project where project_id = new.id));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.raise_owners()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  keys text[];
begin
  execute format('select array_agg(distinct %I) from changed', tg_argv[2]) into keys;
  perform raise_revisions(tg_argv[0], tg_argv[1], keys);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.raise_owners_updated()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  keys text[];
begin
  execute format('select array_agg(distinct %I) from (
    (select * from after except select * from before) union all (select * from before except select * from after)
  ) changed', tg_argv[2]) into keys;
  perform raise_revisions(tg_argv[0], tg_argv[1], keys);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.raise_projects_of_versions()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform raise_revisions('project', 'id', (
    select array_agg(distinct project_id) from changed where is_listed(status)));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.raise_projects_of_versions_updated()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform raise_revisions('project', 'id', (
    select array_agg(distinct project_id) from (
      (select project_id, id, date_published, ordering, loaders, fields from after where is_listed(status)
        except select project_id, id, date_published, ordering, loaders, fields from before where is_listed(status))
      union all
      (select project_id, id, date_published, ordering, loaders, fields from before where is_listed(status)
        except select project_id, id, date_published, ordering, loaders, fields from after where is_listed(status))
    ) changed));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.raise_revision()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  given constant bigint := new.revision;
  hidden constant text[] := coalesce(tg_argv, '{}');
begin
  new.revision := old.revision;
  if new is distinct from old and (to_jsonb(new) - hidden) <> (to_jsonb(old) - hidden) then
    new.revision := greatest(given, old.revision + 1);
  else
    new.revision := given;
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.raise_revisions(owners text, key text, keys text[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  if cardinality(keys) > 0 then
    execute format('update %1$I set revision = revision + 1 where id in (
      select id from %1$I where %2$I = any($1) order by id for no key update)', owners, key) using keys;
  end if;
end
$function$;

CREATE OR REPLACE FUNCTION public.random_base62(length integer)
 RETURNS text
 LANGUAGE sql
AS $function$
  select string_agg(substr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', 1 + floor(random() * 62)::int, 1), '')
  from generate_series(1, length)
$function$;

CREATE OR REPLACE FUNCTION public.random_id()
 RETURNS text
 LANGUAGE plpgsql
AS $function$
declare
  digits constant text := '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  hex constant text := replace(gen_random_uuid()::text, '-', '');
  bits bigint := ('x' || substr(hex, 1, 12) || substr(hex, 14, 3))::bit(60)::bigint;
  id text := '';
begin
  for i in 1..8 loop
    id := id || substr(digits, (bits % 62)::int + 1, 1);
    bits := bits / 62;
  end loop;
  return id;
end
$function$;

CREATE OR REPLACE FUNCTION public.rebuild_public_changes()
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  delete from public_change_head;
  insert into public_change_head (epoch, database) values (random_base62(8), public_change_database());
  delete from public_change_note;
  delete from public_change;
  insert into public_change (kind, subject_id, number, project_id, is_present, revision, changed)
  select kind, subject_id, row_number() over (order by place, changed, subject_id), project_id, true, revision, now()
  from (
    select 1 as place, 'user' as kind, account.id as subject_id, null as project_id, account.revision, account.created as changed
      from account join author on author.account_id = account.id where author.teams > 0 and account.deletion_due is null
    union all
    select 2, 'organization', organization.id, null, organization.revision, organization.created from organization
      where exists (select from project where organization_id = organization.id and is_searchable(status))
    union all
    select 3, 'project', id, null, revision, updated from project where is_searchable(status)
    union all
    select 4, 'version', version.id, version.project_id, version.revision, version.date_published
      from version join project on project.id = version.project_id
      where is_listed(version.status) and is_searchable(project.status)
    union all
    select 5, 'collection', id, null, revision, updated from collection where status = 'listed'
    union all
    select 6, 'advisory', id, null, revision, modified from advisory where is_public_advisory(status)
  ) shown;
  update public_change_head set last = coalesce((select max(number) from public_change), 0);
end
$function$;

CREATE OR REPLACE FUNCTION public.record_previous_name()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  execute format('insert into previous_name (kind, name, %1$I) values ($1, lower($2), $3)
    on conflict (kind, name) do update set %1$I = excluded.%1$I, recorded = excluded.recorded', tg_table_name || '_id')
    using tg_table_name::text, to_jsonb(old) ->> tg_argv[0], new.id;
  execute format('delete from previous_name where %1$I = $1 and (name = lower($2) or name in (
    select name from previous_name where %1$I = $1 order by recorded desc, name offset 20))', tg_table_name || '_id')
    using new.id, to_jsonb(new) ->> tg_argv[0];
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.refresh_dependents(changed_ids text[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  if changed_ids is null then
    return;
  end if;
  perform from project where id = any(changed_ids) order by id for no key update;
  with present as (
    select dependency.project_id, project.id as dependent_id, count(distinct version.id) as versions,
      bit_or(case dependency_type when 'required' then 1 when 'optional' then 2 when 'incompatible' then 4 else 8 end)
        as types,
      bool_or(version.id = newest.id) as latest, download_rank(project.downloads) as downloads, project.updated
    from project
    cross join lateral (
      select id from version where project_id = project.id and is_listed(status)
      order by ordering, date_published desc, id limit 1) newest
    join version on version.project_id = project.id and is_listed(version.status)
    join dependency on dependency.dependent_id = version.id
    where project.id = any(changed_ids) and is_searchable(project.status) and dependency.project_id <> project.id
    group by dependency.project_id, project.id
  ), gone as (
    delete from project_dependent old where old.dependent_id = any(changed_ids) and not exists (
      select from present where present.project_id = old.project_id and present.dependent_id = old.dependent_id)
  )
  insert into project_dependent as old (project_id, dependent_id, types, versions, latest, downloads, updated)
  select project_id, dependent_id, types, versions, latest, downloads, updated from present order by dependent_id, project_id
  on conflict (dependent_id, project_id) do update set types = excluded.types, versions = excluded.versions,
    latest = excluded.latest, downloads = excluded.downloads, updated = excluded.updated
  where (old.types, old.versions, old.latest, old.downloads, old.updated)
    is distinct from (excluded.types, excluded.versions, excluded.latest, excluded.downloads, excluded.updated);
end
$function$;

CREATE OR REPLACE FUNCTION public.refuse_audit_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if coalesce(current_setting('depot.audit_maintenance', true), '') = 'on' then
    return case when tg_op = 'DELETE' then old else new end;
  end if;
  raise exception 'Entries of the audit log cannot be changed' using errcode = 'insufficient_privilege';
end
$function$;

CREATE OR REPLACE FUNCTION public.refuse_leaving_member()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  due timestamptz;
begin
  select deletion_due into due from account where id = new.account_id for key share;
  if due is not null then
    raise foreign_key_violation using
      message = 'The account is about to be deleted',
      detail = 'The account is not present in table "account".',
      constraint = 'team_member_account_id_fkey';
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.search_account_renamed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform note_search_owners((select array_agg(team_id) from team_member where account_id = new.id and is_owner));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.search_dependencies_changed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform note_search_change((
    select array_agg(version.project_id) from changed join version on version.id = changed.dependent_id));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.search_dependencies_updated()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform note_search_change((
    select array_agg(version.project_id) from (
      (select id, dependent_id, project_id, dependency_type from after
        except select id, dependent_id, project_id, dependency_type from before)
      union all
      (select id, dependent_id, project_id, dependency_type from before
        except select id, dependent_id, project_id, dependency_type from after)
    ) shown join version on version.id = shown.dependent_id));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.search_dependents(named_ids text[])
 RETURNS SETOF text
 LANGUAGE sql
 STABLE
AS $function$
  select distinct version.project_id from dependency
  join version on version.id = dependency.dependent_id
  where dependency.project_id = any(named_ids)
$function$;

CREATE OR REPLACE FUNCTION public.search_gallery_changed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform note_search_change((select array_agg(project_id) from changed));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.search_gallery_updated()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform note_search_change((
    select array_agg(project_id) from (
      (select id, project_id, url, featured, ordering, created from after
        except select id, project_id, url, featured, ordering, created from before)
      union all
      (select id, project_id, url, featured, ordering, created from before
        except select id, project_id, url, featured, ordering, created from after)
    ) shown));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.search_organization_renamed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform note_search_change((select array_agg(id) from project where organization_id = new.id));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.search_owners_changed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform note_search_owners((select array_agg(team_id) from changed where is_owner));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.search_owners_updated()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform note_search_owners((
    select array_agg(team_id) from (
      (select team_id, account_id from after where is_owner except select team_id, account_id from before where is_owner)
      union all
      (select team_id, account_id from before where is_owner except select team_id, account_id from after where is_owner)
    ) shown));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.search_projects_deleted()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform note_search_change((select array_agg(id) from changed where is_searchable(status)));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.search_projects_inserted()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform note_search_change((select array_agg(id) from changed where is_searchable(status)));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.search_projects_updated()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  renamed text[];
begin
  perform note_search_change((
    select array_agg(id) from (
      select id from (
        select id, slug, name, other_names, summary, license, categories, additional_categories, downloads, followers, icon_url,
          color, coalesce(approved, published), updated, team_id, organization_id
        from after where is_searchable(status)
        except
        select id, slug, name, other_names, summary, license, categories, additional_categories, downloads, followers, icon_url,
          color, coalesce(approved, published), updated, team_id, organization_id
        from before where is_searchable(status)) shown
      union all (
        select id from before where is_searchable(status) except select id from after where is_searchable(status))
    ) changed));
  -- Others show its name, its slug and its icon while anybody may see it.
  renamed := (select array_agg(id) from (
    select id, name, slug, icon_url, status from after
    except select id, name, slug, icon_url, status from before) shown);
  if renamed is not null then
    perform note_search_change((select array_agg(id) from search_dependents(renamed) as dependents (id)));
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.search_versions_changed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform note_search_change((select array_agg(project_id) from changed where is_listed(status)));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.search_versions_updated()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform note_search_change((
    select array_agg(project_id) from (
      (select project_id, id, status, date_published, ordering, number_key, loaders, fields, withdrawn_at from after
        where is_listed(status)
        except select project_id, id, status, date_published, ordering, number_key, loaders, fields, withdrawn_at from before
        where is_listed(status))
      union all
      (select project_id, id, status, date_published, ordering, number_key, loaders, fields, withdrawn_at from before
        where is_listed(status)
        except select project_id, id, status, date_published, ordering, number_key, loaders, fields, withdrawn_at from after
        where is_listed(status))
    ) shown));
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.set_number_key()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.number_key := case when (select version_order from project where id = new.project_id) = 'number'
    then version_number_key(new.version_number) end;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION public.share_game_version(a jsonb, b jsonb)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select case when jsonb_typeof(a -> 'game_versions') = 'array' and jsonb_typeof(b -> 'game_versions') = 'array'
    then a -> 'game_versions' ?| array(select jsonb_array_elements_text(b -> 'game_versions')) else true end
$function$;

CREATE OR REPLACE FUNCTION public.version_counted()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  difference constant integer := case when tg_op = 'DELETE' or is_listed(old.status) then -1 else 1 end;
begin
  if is_searchable(held_status(old.project_id)) then
    insert into catalogue_change (versions, files)
      select difference, difference * count(*) from file where version_id = old.id;
  end if;
  if tg_op = 'DELETE' then
    return old;
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.version_number_key(number text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select coalesce(string_agg(case
    when token ~ '^[0-9]' then 'n' || chr(64 + length(ltrim(token, '0'))) || ltrim(token, '0')
    when token in ('dev', 'nightly', 'snapshot') then 'a0'
    when token = 'alpha' then 'a1'
    when token = 'beta' then 'a2'
    when token in ('pre', 'preview') then 'a3'
    when token = 'rc' then 'a4'
    else 'f' || token end, ' ' order by place), '') || ' e'
  from (
    select found[1] as token, place
    from regexp_matches(regexp_replace(lower(split_part(number, '+', 1)), '^v([0-9])', '\1'), '[0-9]+|[a-z]+', 'g')
      with ordinality as matches (found, place)) tokens
$function$;

CREATE OR REPLACE FUNCTION public.versions_inserted()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into catalogue_change (versions)
    select count(*) from inserted
    where is_listed(inserted.status) and is_searchable(held_status(inserted.project_id))
    having count(*) > 0;
  return null;
end
$function$;
