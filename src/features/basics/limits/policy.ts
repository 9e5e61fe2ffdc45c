import type { Viewer } from '#lib/access/viewer.ts'

/** Admins may own any number of things. */
export function isUnlimited({ role }: Pick<Viewer, 'role'>): boolean {
  return role === 'admin'
}
