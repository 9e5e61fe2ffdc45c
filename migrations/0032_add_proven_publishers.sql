-- When a build that named its project first used the publisher. Anyone can add a publisher that names a repository of
-- somebody else; a build that does not name its project gets tokens of proven publishers only.
alter table trusted_publisher add column proven timestamptz;

-- A publisher that builds used is proven unless another project or organization names the same repository.
update trusted_publisher publisher set proven = last_used
where last_used is not null and not exists (
  select from trusted_publisher other
  where other.issuer = publisher.issuer and lower(other.repository) = lower(publisher.repository)
    and (other.project_id is distinct from publisher.project_id
      or other.organization_id is distinct from publisher.organization_id));
