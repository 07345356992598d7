import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readChainPolicies, readChainsFile } from '../../src/config/chains.js'
import { chainConfig } from '../support/chain-config.js'

let directory: string
let path: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'cs-chains-'))
  path = join(directory, 'chains.json')
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const write = (chain: object) => writeFileSync(path, JSON.stringify({ chains: [chain] }))

test("a node's URL may come from the environment, whose value no message repeats", () => {
  const secret = 'https://node.example.test/v1/s3cr3t'
  write(chainConfig(1, { rpc_urls: ['$RPC_URL_ETHEREUM', 'https://b.test'] }))
  expect(readChainsFile(path, { RPC_URL_ETHEREUM: secret }).chains[0]?.rpc_urls).toEqual([
    secret,
    'https://b.test',
  ])
  expect(() => readChainsFile(path, {})).toThrow('the environment has no RPC_URL_ETHEREUM')
  const broken = () => readChainsFile(path, { RPC_URL_ETHEREUM: 's3cr3t' })
  expect(broken).toThrow('RPC_URL_ETHEREUM of the environment is not a URL')
  expect(broken).not.toThrow('s3cr3t')
  // What asks no node needs none.
  expect(readChainPolicies(path).chains).toHaveLength(1)
})

test('a token, a market or a chain that is listed twice is refused', () => {
  const token = {
    address: `0x${'ab'.repeat(20)}`,
    symbol: 'TOK',
    decimals: 6,
    feed: null,
    transfer_gas_limit: null,
  }
  const again = { ...token, address: `0x${'AB'.repeat(20)}`, decimals: 18 }
  write(chainConfig(1, { tokens: [token, again] }))
  expect(() => readChainPolicies(path)).toThrow('lists a token twice')
  const market = { market_id: 'm', protocol: 'p', name: 'n', vault: token.address }
  write(chainConfig(1, { markets: [market, { ...market, vault: `0x${'cd'.repeat(20)}` }] }))
  expect(() => readChainPolicies(path)).toThrow('lists a market_id twice')
  writeFileSync(path, JSON.stringify({ chains: [chainConfig(1), chainConfig(1)] }))
  expect(() => readChainPolicies(path)).toThrow('lists a chain twice')
})
