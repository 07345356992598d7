import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sanctionsOracleOf } from '../../src/config/sanctions-oracles.js'
import { readScreeningFile } from '../../src/config/screening.js'
import { openProviders } from '../../src/screening/providers/configured-providers.js'
import { chainConfig } from '../support/chain-config.js'
import { callOf, TARGET, testScreener, told } from './fixtures.js'

let home: string
const open: { close(): unknown }[] = []

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'screening-'))
})
afterEach(async () => {
  for (const resource of open.splice(0).reverse()) await resource.close()
  rmSync(home, { recursive: true, force: true })
})

const write = (content: unknown) =>
  writeFileSync(join(home, 'screening.json'), JSON.stringify(content))
const writeKey = (key: string) =>
  writeFileSync(join(home, 'provider.key'), `${key}\n`, { mode: 0o600 })
const provider = (baseUrl: string) => ({
  name: 'house-risk',
  base_url: baseUrl,
  api_key_file: 'provider.key',
  kind: 'risk',
  when_unavailable: 'stop',
  // The machine may be busy for longer than a provider is given by default.
  timeout_ms: 10_000,
})

describe('screening.json', () => {
  it('need not exist: no provider is asked', () => {
    expect(readScreeningFile(home)).toEqual({ providers: [] })
    expect(openProviders(home, readScreeningFile(home))).toEqual([])
  })

  it('has a provider asked with its key, and its answer stops a call', async () => {
    const keys: unknown[] = []
    const server = createServer((request, response) => {
      keys.push(request.headers['x-api-key'])
      const flagged = request.url?.endsWith(TARGET.toLowerCase()) === true
      const identifications = flagged ? [{ category: 'scam' }] : []
      response.end(JSON.stringify({ identifications }))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    open.push({ close: () => server.close() })
    write({ providers: [provider(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)] })
    writeKey('key-of-the-provider')
    const providers = openProviders(home, readScreeningFile(home))
    const screener = testScreener({ providers })
    open.push(screener, ...providers)
    expect(told(await screener.screen(callOf('0x')))).toBe('blocked house-risk: scam to')
    expect(keys).toEqual(['key-of-the-provider'])
  })

  it.each<[string, unknown, RegExp]>([
    ['a field it does not know', { provider: [] }, /provider/],
    ['another protocol', { providers: [provider('ftp://127.0.0.1')] }, /base_url/],
    ['a kind it does not know', { providers: [{ ...provider('http://a'), kind: 'x' }] }, /kind/],
    ['a source it does not know', { downloads: [{ source: 'un', url: 'http://a' }] }, /source/],
  ])('is refused with the path of what is wrong: %s', (_name, content, path) => {
    write(content)
    expect(() => readScreeningFile(home)).toThrow(path)
  })

  it('is refused when it is no JSON', () => {
    writeFileSync(join(home, 'screening.json'), '{')
    expect(() => readScreeningFile(home)).toThrow('no JSON')
  })

  it('does not take a key that others may read, or none', () => {
    write({ providers: [provider('http://127.0.0.1:1')] })
    const opening = () => openProviders(home, readScreeningFile(home))
    expect(opening).toThrow('ENOENT')
    writeKey('key')
    chmodSync(join(home, 'provider.key'), 0o644)
    expect(opening).toThrow('0600')
    chmodSync(join(home, 'provider.key'), 0o600)
    writeKey('two words')
    expect(opening).toThrow('no API key')
  })
})

describe('the oracle of a chain', () => {
  it('is the known one of a live chain, and none of a development chain, unless said', () => {
    expect(sanctionsOracleOf(chainConfig(1), 'live')?.address).toMatch(/^0x40C5/)
    expect(sanctionsOracleOf(chainConfig(8453), 'live')?.address).toMatch(/^0x3A91/)
    expect(sanctionsOracleOf(chainConfig(8453), 'dev')).toBeNull()
    expect(sanctionsOracleOf(chainConfig(1, { sanctions_oracle: null }), 'live')).toBeNull()
    const said = { address: TARGET, from_block: 7, max_age_seconds: 60 }
    expect(sanctionsOracleOf(chainConfig(1, { sanctions_oracle: said }), 'dev')).toEqual(said)
  })
})
