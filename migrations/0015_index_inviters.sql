-- Who is invited is told by whom; a deleted account is taken out of what others were told.
create index notification_invited_by_idx on notification ((body ->> 'invited_by'))
  where (body ->> 'invited_by') is not null;
