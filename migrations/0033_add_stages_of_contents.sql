-- How far the project that claimed a content has come: 0 hidden, 1 submitted for review, 2 public. The first project that is
-- public with a content owns it.
alter table file_content add column stage smallint not null default 2,
  add constraint file_content_stage_check check (stage between 0 and 2);

-- Rows of projects that were never approved. All others keep their claim.
update file_content set stage = case project.status when 'processing' then 1 else 0 end
from project where project.id = file_content.project_id and project.approved is null
  and project.status in ('draft', 'processing', 'rejected', 'private', 'unknown');
