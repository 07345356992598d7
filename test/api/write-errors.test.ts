import { describe, expect, it } from 'vitest'
import { GATES } from '../../actors/sub-wallet/core/lifecycle.js'
import { openApiDocument } from '../../src/api/openapi.js'
import { operations } from '../../src/api/operations.js'
import { GATE_REFUSALS } from '../../src/errors/write-refusals.js'

/** A client is written by what the document lists: a code that it lacks is handled by nobody. */

interface Responses {
  readonly [status: string]: {
    readonly content: { readonly 'application/json': { readonly examples?: object } }
  }
}

const paths = openApiDocument().paths as unknown as Readonly<
  Record<string, Readonly<Record<string, { readonly responses: Responses }>>>
>

function listed(path: string, method: string): string[] {
  const operation = paths[path]?.[method.toLowerCase()]
  return Object.values(operation?.responses ?? {}).flatMap(({ content }) =>
    Object.keys(content['application/json'].examples ?? {}),
  )
}

describe.each(operations.filter(({ movesValue }) => movesValue).map((row) => [row.name, row]))(
  '%s',
  (_name, row) => {
    it('lists every code of every gate', () => {
      const codes = GATES.flatMap(({ refusals }) => refusals)
      expect(listed(row.path, row.method)).toEqual(expect.arrayContaining(codes))
    })

    it.each([
      'POLICY_DENIED',
      'FROZEN',
      'SIMULATION_REVERTED',
      'INSUFFICIENT_FUNDS',
      'COSIGNER_UNAVAILABLE',
      'CHAIN_REJECTED',
      'WRITES_STOPPED',
      'RECORD_DAMAGED',
      'OUTCOME_UNKNOWN',
    ])('lists %s', (code) => {
      expect(listed(row.path, row.method)).toContain(code)
    })
  },
)

it('the table has the gates in their order, and no other', () => {
  expect(Object.keys(GATE_REFUSALS)).toEqual(GATES.map(({ name }) => name))
})
