import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createKeyInput } from '../../src/api/console.js'
import { operations } from '../../src/api/operations.js'
import { parseInput } from '../../src/api/parse.js'
import { sendTransactionInput } from '../../src/api/transaction.js'

function issuesOf(schema: z.ZodType, input: unknown): Readonly<Record<string, string>> {
  const parsed = parseInput(schema, input)
  if (parsed.ok) throw new Error('the input was accepted')
  const issues = parsed.fault.details.issues as { path: string; message: string }[]
  return Object.fromEntries(issues.map(({ path, message }) => [path, message]))
}

describe('what is wrong with an input is said in words', () => {
  test('what is missing is named with what would be right', () => {
    expect(issuesOf(sendTransactionInput, {})).toEqual({
      chain_id: 'is missing: give an integer (EIP-155 chain id, e.g. 8453 for Base)',
      to: 'is missing: give a string (recipient or contract)',
    })
  })

  test('a number in place of a string is to be put in quotes', () => {
    const { value } = issuesOf(sendTransactionInput, { value: 1 })
    expect(value).toBe('must be a string, not a number: put it in quotes')
  })

  test('an unknown field is named with those that are taken', () => {
    const { gas } = issuesOf(sendTransactionInput, { gas: '1' })
    expect(gas).toBe('unknown field; taken here: chain_id, to, data, value, allow_burn')
  })

  test('choices are listed', () => {
    const { permission, daily_limit_usd: cap } = issuesOf(createKeyInput, { permission: 'admin' })
    expect(permission).toBe('must be one of "read", "trade"')
    expect(cap).toBe('is missing: give a string (decimal USD, such as "25.50"), or "unlimited"')
  })

  test('bounds are given', () => {
    const schema = z.strictObject({
      n: z.int().min(3),
      s: z.string().max(1),
      a: z.array(z.int()).max(2),
    })
    expect(issuesOf(schema, { n: 1, s: 'xx', a: [1, 2, 3] })).toEqual({
      n: 'must be at least 3',
      s: 'must have at most 1 character',
      a: 'must have at most 2 entries',
    })
  })

  test('no value is repeated back', () => {
    const secret = 'sk_test_secret'
    const input = { chain_id: secret, to: [secret], value: { secret }, data: secret }
    expect(JSON.stringify(issuesOf(sendTransactionInput, input))).not.toContain(secret)
  })

  test.each(operations.map((row) => [row.name, row.input] as const))(
    'the words of the schema package reach nobody: %s',
    (_name, schema) => {
      const fields = schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
      const wrong = [
        null,
        5,
        {},
        ...[null, 1.5, [], {}, true].map((value) => nameAll(fields, value)),
      ]
      for (const input of wrong) {
        const parsed = parseInput(schema, input)
        if (!parsed.ok) expect(JSON.stringify(parsed.fault)).not.toMatch(/Invalid|expected|Too /)
      }
    },
  )
})

function nameAll(fields: readonly string[], value: unknown): object {
  return Object.fromEntries(fields.map((name) => [name, value]))
}
