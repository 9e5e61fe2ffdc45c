// Finds the trusted publisher of a build, and names the first difference of the closest one.

import type { PublisherFacts } from '../queries.ts'
import type { BuildClaims } from './claims.ts'

type Check = (publisher: PublisherFacts, build: BuildClaims) => string | undefined

const differs = (what: string, actual: string | undefined, expected: string): string =>
  `${what} is ${actual === undefined ? 'missing' : `\`${actual}\``}, expected \`${expected}\``

/** In the order in which a difference is named. Each returns the difference. */
const CHECKS: readonly Check[] = [
  ({ repository_id, repository }, build) => {
    if (repository_id !== null) {
      if (repository_id === build.repositoryId) return undefined
      return `${differs('repository ID', build.repositoryId, repository_id)}: the repository is not the one that published before`
    }
    return sameText(repository, build.repository) ? undefined : differs('repository', build.repository, repository)
  },
  ({ owner_id }, { ownerId }) =>
    owner_id === null || owner_id === ownerId ? undefined : differs('repository owner ID', ownerId, owner_id),
  ({ workflow }, build) => {
    const name = workflow.includes('/') ? build.workflow : build.workflow.slice(build.workflow.lastIndexOf('/') + 1)
    return name === workflow ? undefined : differs('workflow', name, workflow)
  },
  ({ called_workflows }, { calledWorkflow }) =>
    calledWorkflow === undefined || called_workflows.some((name) => sameText(name, calledWorkflow))
      ? undefined
      : `the job runs in the workflow \`${calledWorkflow}\`, which called_workflows does not contain`,
  ({ environment }, build) =>
    environment === null || (build.environment !== undefined && sameText(environment, build.environment))
      ? undefined
      : differs('environment', build.environment, environment),
  ({ ref_pattern }, { ref }) =>
    ref_pattern === null || matchesPattern(ref, ref_pattern) ? undefined : differs('ref', ref, ref_pattern),
  ({ protected_ref_only }, { isProtected, ref }) =>
    protected_ref_only && !isProtected ? `ref \`${ref}\` is not protected` : undefined,
  ({ works }) => (works ? undefined : 'the account that added the publisher is not a member any more'),
]

/** Returns the publishers that match; if none does, the first difference of the closest one. */
export function matchPublishers<Publisher extends PublisherFacts>(
  publishers: readonly Publisher[],
  build: BuildClaims,
): { matching: Publisher[]; difference: string | undefined } {
  const results = publishers.map((publisher) => {
    const failed = CHECKS.findIndex((check) => check(publisher, build) !== undefined)
    return { publisher, passed: failed === -1 ? CHECKS.length : failed }
  })
  const matching = results.filter(({ passed }) => passed === CHECKS.length).map(({ publisher }) => publisher)
  const [closest] = results.toSorted((a, b) => b.passed - a.passed)
  const difference = closest === undefined ? undefined : CHECKS[closest.passed]?.(closest.publisher, build)
  return { matching, difference }
}

function sameText(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}

/** `*` in the pattern stands for any characters. Compares part by part, so that no pattern needs much time. */
export function matchesPattern(text: string, pattern: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return text === pattern
  if (!text.startsWith(first)) return false
  let at = first.length
  for (const part of rest) {
    const found = text.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return text.length - last.length >= at && text.endsWith(last)
}
