// Checks documents by the rules of the OSV schema 1.7.5 (https://ossf.github.io/osv-schema/) for all fields that Depot writes.
// The published schema is not in the repository, so this file states its rules again. The schema of the documents in the
// source must not be used: this check is independent of it.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { Compile } from 'typebox/schema'

const TIME = {
  type: 'string',
  format: 'date-time',
  pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]+)?Z$',
}
const TEXT = { type: 'string' }
const TEXTS = { type: 'array', items: TEXT }

/** The metrics of CVSS 3 can have any order, and those of CVSS 4 only this order. */
const METRIC_3 =
  '(AV:[NALP]|AC:[LH]|PR:[NLH]|UI:[NR]|S:[UC]|[CIA]:[NLH]|E:[XUPFH]|RL:[XOTWU]|RC:[XURC]|[CIA]R:[XLMH]|MAV:[XNALP]|MAC:[XLH]|MPR:[XNLH]|MUI:[XNR]|MS:[XUC]|M[CIA]:[XNLH])'
const BASE_4 = '/AV:[NALP]/AC:[LH]/AT:[NP]/PR:[NLH]/UI:[NPA]/VC:[HLN]/VI:[HLN]/VA:[HLN]/SC:[HLN]/SI:[HLN]/SA:[HLN]'

const scored = (type: string, pattern: string) => ({
  type: 'object',
  properties: { type: { const: type }, score: { type: 'string', pattern } },
  required: ['type', 'score'],
})
const SEVERITY = {
  type: 'array',
  items: { anyOf: [scored('CVSS_V3', `^CVSS:3[.][01](/${METRIC_3})+$`), scored('CVSS_V4', `^CVSS:4[.]0${BASE_4}$`)] },
}

const REFERENCE = {
  type: 'object',
  properties: {
    type: { enum: 'ADVISORY ARTICLE DETECTION DISCUSSION REPORT FIX INTRODUCED GIT PACKAGE EVIDENCE WEB'.split(' ') },
    url: { type: 'string', format: 'uri' },
  },
  required: ['type', 'url'],
}

/** Depot uses one ecosystem: Maven with the address of a repository. */
const AFFECTED = {
  type: 'object',
  properties: {
    package: {
      type: 'object',
      properties: { ecosystem: { type: 'string', pattern: '^Maven(:.+)?$' }, name: TEXT, purl: TEXT },
      required: ['ecosystem', 'name'],
    },
    versions: TEXTS,
    ecosystem_specific: { type: 'object' },
    database_specific: { type: 'object' },
  },
}

const DOCUMENT = {
  type: 'object',
  properties: {
    schema_version: { const: '1.7.5' },
    // The prefix of a database that is not registered begins with `x_`.
    id: { type: 'string', pattern: '^x_[A-Za-z0-9]+-' },
    modified: TIME,
    published: TIME,
    withdrawn: TIME,
    aliases: TEXTS,
    related: TEXTS,
    upstream: TEXTS,
    summary: TEXT,
    details: TEXT,
    severity: SEVERITY,
    affected: { type: 'array', items: AFFECTED },
    references: { type: 'array', items: REFERENCE },
    credits: { type: 'array' },
    database_specific: { type: 'object' },
  },
  required: ['id', 'modified'],
  additionalProperties: false,
}

const validator = Compile(DOCUMENT)

// Continuous integration downloads the published schema.
const file = process.env['OSV_SCHEMA']
const published = file === undefined ? undefined : Compile(JSON.parse(readFileSync(file, 'utf8')))

/** Checks that a document is valid OSV: by the rules above, and by the published schema in the file `OSV_SCHEMA`. */
export function assertOsv(document: { id: string }): void {
  assert.deepEqual(validator.Errors(document)[1], [], JSON.stringify(document))
  // Version 1.7.5 has only prefixes of public databases. Version 1.8.0 has added `x_` for all others.
  const renamed = { ...document, id: document.id.replace(/^x_/, 'OSV-') }
  if (published !== undefined) assert.deepEqual(published.Errors(renamed)[1], [], JSON.stringify(document))
}
