// New projects of the demo catalogue: under review, rejected, or drafts.

import type { DemoProject } from '#demo/catalogue/catalogue.ts'
import { HOUR_MS } from '#lib/time.ts'

export type SeededStatus = DemoProject['status'] | 'draft' | 'rejected'
export type SeededProject = Omit<DemoProject, 'status'> & { status: SeededStatus }

/** Position `at` of each group of `every` projects is under review, rejected or a draft, unless it is a mod. */
const WAITING = { every: 10, at: 1 }
const REJECTED = { every: 40, at: 14 }
const DRAFT = { every: 15, at: 7 }

/**
 * Returns the project with its final status. Mods are always approved, because other projects depend on them. A new project
 * has one version from the last three days, without downloads.
 */
export function asSeeded(project: DemoProject, index: number, until: Date): SeededProject {
  if (project.projectType === 'mod') {
    return project.status === 'processing' ? { ...project, status: 'approved' } : project
  }
  if (index % DRAFT.every === DRAFT.at) return asNew(project, 'draft', index, until)
  if (index % REJECTED.every === REJECTED.at) return asNew(project, 'rejected', index, until)
  const waits = index % WAITING.every === WAITING.at || project.status === 'processing'
  return waits ? asNew(project, 'processing', index, until) : project
}

function asNew(
  project: DemoProject,
  status: 'draft' | 'processing' | 'rejected',
  index: number,
  until: Date,
): SeededProject {
  const published = new Date(until.getTime() - (1 + ((index * 13) % 71)) * HOUR_MS)
  const [first] = project.versions
  return {
    ...project,
    status,
    published,
    downloads: 0,
    follows: 0,
    versions: first === undefined ? [] : [{ ...first, published, downloads: 0, featured: false }],
  }
}
