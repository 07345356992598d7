import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Tool } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operations } from '../../src/api/operations.js'
import { parseInput } from '../../src/api/parse.js'
import { executeSwapInput } from '../../src/api/swap.js'
import { TOOL_ORDER } from '../../src/mcp/tools.js'
import { TRADE_SECRET } from '../http/harness.js'
import { type McpHarness, startMcpHarness } from './harness.js'

/**
 * What hosts of language models are known to refuse. One schema is enough: most refuse the whole
 * list for it, and some leave the tool out without a word.
 */

let harness: McpHarness
let tools: readonly Tool[]
beforeAll(async () => {
  harness = await startMcpHarness({})
  const client = new Client({ name: 'a host', version: '1' })
  const transport = new StreamableHTTPClientTransport(harness.mcpUrl, {
    requestInit: { headers: { 'X-Api-Key': TRADE_SECRET } },
  })
  await client.connect(transport as unknown as Parameters<Client['connect']>[0])
  tools = (await client.listTools()).tools
  await client.close()
})
afterAll(() => harness.server.close())

interface Node {
  readonly [keyword: string]: unknown
}

/** Each schema within a schema, with the way to it. */
function* nodesOf(node: Node, path: string): Generator<readonly [path: string, node: Node]> {
  yield [path, node]
  for (const [name, child] of Object.entries((node.properties ?? {}) as Record<string, Node>)) {
    yield* nodesOf(child, `${path}.${name}`)
  }
  if (node.items !== undefined) yield* nodesOf(node.items as Node, `${path}[]`)
  for (const keyword of ['anyOf', 'oneOf', 'allOf']) {
    for (const [n, branch] of ((node[keyword] ?? []) as readonly Node[]).entries()) {
      yield* nodesOf(branch, `${path}|${n}`)
    }
  }
}

function inputNodes(): (readonly [path: string, node: Node])[] {
  return tools.flatMap(({ name, inputSchema }) => [...nodesOf(inputSchema as Node, name)])
}

/** The keywords that every host may pass on: model APIs reject tools with others. */
const KEYWORDS_TAKEN: readonly string[] = [
  'type',
  'description',
  'properties',
  'required',
  'items',
  'enum',
  'pattern',
  'maximum',
  // Some APIs have no field for it, and their clients leave it out; strict ones want it.
  'additionalProperties',
]

describe('the tool list, as hosts of models read it', () => {
  it('has all tools', () => {
    expect(tools.map(({ name }) => name)).toEqual(TOOL_ORDER)
  })

  it('has names of at most 64 letters, digits, lines and dashes', () => {
    for (const { name } of tools) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
  })

  it('has names that stay short enough behind a server’s own', () => {
    // Some hosts put "mcp__<server>__" before it, and count that.
    for (const { name } of tools) expect(`mcp__countersign__${name}`.length).toBeLessThan(60)
  })

  it('has objects alone at the roots, without a choice between schemas', () => {
    for (const { name, inputSchema, outputSchema } of tools) {
      for (const schema of [inputSchema, outputSchema] as readonly Node[]) {
        expect(schema.type, name).toBe('object')
        for (const keyword of ['anyOf', 'oneOf', 'allOf', 'not', 'enum', 'const', '$ref']) {
          expect(schema, name).not.toHaveProperty([keyword])
        }
      }
    }
  })

  it('uses no keyword that one of them has no field for', () => {
    for (const [path, node] of inputNodes()) {
      const strange = Object.keys(node).filter((keyword) => !KEYWORDS_TAKEN.includes(keyword))
      expect(strange, path).toEqual([])
    }
  })

  it('refers to nothing outside, not even within a schema', () => {
    expect(JSON.stringify(tools)).not.toMatch(/"\$(?:ref|defs|dynamicRef|id|anchor)"/)
  })

  it('gives every value one type, and properties to objects alone', () => {
    for (const [path, node] of inputNodes()) {
      expect(node.type, path).toBeTypeOf('string')
      expect(Object.hasOwn(node, 'properties'), path).toBe(node.type === 'object')
      expect(Object.hasOwn(node, 'items'), path).toBe(node.type === 'array')
    }
  })

  it('closes every object, and requires what it has', () => {
    for (const [path, node] of inputNodes()) {
      if (node.type !== 'object') continue
      expect(node.additionalProperties, path).toBe(false)
      const names = Object.keys(node.properties as object)
      for (const name of (node.required ?? []) as readonly string[]) expect(names).toContain(name)
      for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9_.-]{1,64}$/)
    }
  })

  it('chooses between texts alone', () => {
    for (const [path, node] of inputNodes()) {
      for (const value of (node.enum ?? []) as readonly unknown[]) {
        expect(value, path).toBeTypeOf('string')
      }
    }
  })

  it('has patterns that look neither ahead nor behind', () => {
    for (const [path, { pattern }] of inputNodes()) {
      if (typeof pattern === 'string') expect(pattern, path).not.toMatch(/\(\?[=!<]|\\[1-9pP]/)
    }
  })

  it('describes every tool in at most 1,024 characters', () => {
    for (const { name, description } of tools) {
      expect(description?.length ?? 0, name).toBeGreaterThan(0)
      expect(description?.length ?? 0, name).toBeLessThanOrEqual(1_024)
    }
  })
})

describe('a swap takes a quote or terms, in one flat object', () => {
  const terms = {
    ...{ chain_id: 8453, token_in: `0x${'11'.repeat(20)}`, token_out: `0x${'22'.repeat(20)}` },
    amount_in: '5',
  }
  const issuesOf = (input: unknown) => {
    const parsed = parseInput(executeSwapInput, input)
    if (parsed.ok) return []
    return parsed.fault.details.issues as readonly { path: string; message: string }[]
  }

  it('and no more than one of them', () => {
    expect(issuesOf({ quote_id: 'quote_1' })).toEqual([])
    expect(issuesOf(terms)).toEqual([])
    expect(issuesOf({ ...terms, slippage_bps: 10 })).toEqual([])
    const mixed = issuesOf({ quote_id: 'quote_1', chain_id: 8453, slippage_bps: 10 })
    expect(mixed.map(({ path }) => path)).toEqual(['chain_id', 'slippage_bps'])
    for (const { message } of mixed) expect(message).toContain('not together with quote_id')
  })

  it('and names what is missing of the terms', () => {
    const { amount_in: _, ...short } = terms
    expect(issuesOf(short)).toMatchObject([
      { path: 'amount_in', message: expect.stringContaining('Give quote_id alone, or chain_id') },
    ])
    expect(issuesOf({}).map(({ path }) => path)).toEqual([
      ...['chain_id', 'token_in', 'token_out', 'amount_in'],
    ])
    expect(issuesOf({ ...terms, other: 1 })).toMatchObject([{ path: 'other' }])
  })
})

describe('REST', () => {
  it('has no schema with a choice at its root either', () => {
    for (const { name, input, output } of operations) {
      for (const schema of [input, output]) {
        const { type } = schema.toJSONSchema()
        expect(type, name).toBe('object')
      }
    }
  })
})
