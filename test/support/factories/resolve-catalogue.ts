// Test support: a catalogue from short texts. `lantern: {'2': ['required engine']}` has a version 2 that requires another project.
import { DEPENDENCY_TYPES } from '#features/catalogue/versions/kinds.ts'
import type { TestApp } from '../app/test-app.ts'
import type { MadeProject } from './factories.ts'

type Fields = Omit<Parameters<TestApp['make']['version']>[0], 'project'>
type Version = readonly string[] | (Fields & { dependencies?: readonly string[] })

export type TestCatalogue = {
  projects: Record<string, MadeProject>
  /** IDs by `project/version`. */
  versions: Record<string, string>
  /** SHA-1 hashes by `project/version`. */
  hashes: Record<string, string>
}

/** Publishes projects; the version with the highest number is the newest. A dependency is `required lantern` or `required lantern/1`. */
export async function makeCatalogue(
  t: TestApp,
  given: Record<string, Record<string, Version>>,
  fields: (slug: string) => { slug?: string; name?: string; status?: string } = () => ({}),
): Promise<TestCatalogue> {
  const owner = await t.make.account()
  const made: TestCatalogue = { projects: {}, versions: {}, hashes: {} }
  for (const [slug, versions] of Object.entries(given)) {
    const project = await t.make.project({ owner, slug: `${slug}-${t.make.next()}`, name: slug, ...fields(slug) })
    made.projects[slug] = project
    const newestFirst = Object.entries(versions).sort(([a], [b]) => Number(b) - Number(a))
    for (const [age, [number, version]] of newestFirst.entries()) {
      const { dependencies: _, ...own } = 'length' in version ? { dependencies: [] } : version
      const { id } = await t.make.version({
        project,
        version_number: number,
        date_published: new Date(Date.UTC(2026, 0, 20 - age)),
        loaders: ['fabric'],
        game_versions: ['1.20.1'],
        ...own,
      })
      made.versions[`${slug}/${number}`] = id
      const bytes = Buffer.from(`${project.id} ${number}`)
      const filename = `${slug}-${number}.jar`
      made.hashes[`${slug}/${number}`] = (await t.make.file({ project, version: { id }, bytes, filename })).sha1
    }
  }
  for (const [slug, versions] of Object.entries(given)) {
    for (const [number, version] of Object.entries(versions)) {
      const dependencies = 'length' in version ? version : (version.dependencies ?? [])
      for (const dependency of dependencies) await depend(t, made, `${slug}/${number}`, dependency)
    }
  }
  return made
}

async function depend(t: TestApp, made: TestCatalogue, dependent: string, text: string): Promise<void> {
  const [kind = '', name = ''] = text.split(' ')
  const [slug = '', number] = name.split('/')
  const isFile = name.endsWith('.jar')
  await t.deps.db
    .insertInto('dependency')
    .values({
      dependent_id: made.versions[dependent] ?? '',
      dependency_type: DEPENDENCY_TYPES.find((type) => type === kind) ?? 'required',
      project_id: isFile ? null : (made.projects[slug]?.id ?? null),
      version_id: number === undefined ? null : (made.versions[name] ?? null),
      file_name: isFile ? name : null,
    })
    .execute()
}
