// Requests for the tests of all operations.
import { newToken } from '#lib/access/tokens.ts'
import { type Declared, PROOF, type Sample, send, slug, theAnswer } from '#test/api/operations/sample.ts'
import { buildToken, issuerOf, type World } from '#test/api/operations/world.ts'

const newPublisher = (w: World) => ({ issuer: issuerOf(w), repository: 'lanterns/lamp', workflow: 'release.yml' })
const publisherFields = {
  issuer: send(({ t }: World) => t.deps.config.ci.issuers[1]?.issuer),
  repository: send(() => `lanterns/${slug()}`),
  repository_id: send('4711'),
  owner_id: send('17'),
  workflow: send('publish.yml'),
  environment: send('release'),
  ref_pattern: send('refs/tags/*'),
  protected_ref_only: send(true),
  called_workflows: send(['lanterns/ci/.github/workflows/publish.yml']),
}

export const SAMPLES: Record<string, Sample> = {
  exchangeBuildToken: { body: async (w) => ({ token: await buildToken(w), project: (await w.project()).id }) },
  endPublisherToken: { headers: { authorization: newToken('publisher').token } },
  addProjectPublisher: { body: newPublisher },
  removeProjectPublisher: { at: { publisher_id: 'projectPublisher' } },
  addOrganizationPublisher: { body: newPublisher },
  removeOrganizationPublisher: { at: { publisher_id: 'organizationPublisher' } },
}

export const DECLARED: Record<string, Declared> = {
  addProjectPublisher: { view: theAnswer, fields: publisherFields, unseen: PROOF },
  addOrganizationPublisher: { view: theAnswer, fields: publisherFields, unseen: PROOF },
}
