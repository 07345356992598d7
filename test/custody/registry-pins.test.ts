import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getAddress } from 'viem'
import { describe, expect, onTestFinished, test } from 'vitest'
import { registryPath, serviceLayout } from '../../src/custody/domain-keys/layout.js'
import { pinnedToken, pinnedTokens } from '../../src/custody/domain-keys/pinned-tokens.js'
import { readRegistryFile, readRootKey } from '../../src/custody/domain-keys/registry-file.js'
import { draftNext } from '../../src/custody-tools/provisioning/install-registry.js'
import { provisionDev } from '../../src/custody-tools/provisioning/provision.js'
import { bodyOf, registryChains } from '../../src/custody-tools/provisioning/registry-draft.js'
import { signRegistry } from '../../src/custody-tools/provisioning/registry-root.js'
import { CHAIN_IDS, chainFacts } from '../../src/domain/chains.js'
import { p256SignerOf } from '../../src/quorum-protocol/p256.js'
import { checkPins, decodePayload, encodePayload } from '../../src/quorum-protocol/payload.js'
import {
  openRegistry,
  type RegistryBody,
  type RegistryChain,
  type RegistryToken,
  registryMessage,
} from '../../src/quorum-protocol/registry.js'
import type { TransactionPayload } from '../../src/quorum-protocol/sign-payload.js'
import { chainConfig } from '../support/chain-config.js'

const TOKEN = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'
const OTHER = '0x4444444444444444444444444444444444444444'
const ROUTER = '0x1111111111111111111111111111111111111111'
const DELEGATE = '0x2222222222222222222222222222222222222222'

function chainsFile(chains: readonly object[]): string {
  const directory = mkdtempSync(join(tmpdir(), 'cs-pins-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const path = join(directory, 'chains.json')
  writeFileSync(path, JSON.stringify({ chains }))
  return path
}

function tokenRow(address: string, symbol: string, decimals: number) {
  return { address, symbol, decimals, feed: null, transfer_gas_limit: null }
}

function rowOf(chain_id: number, more: Partial<RegistryChain> = {}): RegistryChain {
  return { chain_id, router: ROUTER, delegate: DELEGATE, max_fee_per_gas_wei: '1000', ...more }
}

function bodyWith(chains: readonly RegistryChain[]): RegistryBody {
  const keys = { co_signers: [], approvers: [], quorum_signers: [] }
  return { version: 1, environment: 'live', issued_at_ms: 0, ...keys, chains }
}

async function opened(body: RegistryBody) {
  const root = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const bytes = Buffer.from(JSON.stringify(body))
  const signature = await p256SignerOf(root.privateKey).sign(registryMessage(bytes))
  return openRegistry({ body: bytes, signature }, root.publicKey)
}

function transactionOf(chainId: number, gasLimit: bigint, envelope: 2 | 4) {
  const payload: TransactionPayload = {
    ...{ type: 'transaction', chainId, nonce: 0, to: ROUTER, value: 0n, data: '0x', gasLimit },
    ...{ maxFeePerGas: 1_000n, maxPriorityFeePerGas: 1n },
    ...(envelope === 2
      ? {}
      : {
          authorizationList: [
            {
              ...{ chainId, address: DELEGATE, nonce: 0, yParity: 0 },
              ...{ r: `0x${'11'.repeat(32)}`, s: `0x${'11'.repeat(32)}` },
            },
          ],
        }),
  }
  const { type, bytes } = encodePayload(payload)
  return decodePayload(type, bytes)
}

describe('the highest gas limit of a chain', () => {
  const pinned = [
    [1, undefined, 16_777_216n],
    [8453, undefined, 16_777_216n],
    [42161, undefined, 64_000_000n],
    [8453, 300_000, 300_000n],
    [42161, 90_000_000, 90_000_000n],
  ] as const

  test.each(pinned)(
    'on chain %d with the pin %s is %s, in both kinds of transaction',
    async (chainId, pin, highest) => {
      const more = pin === undefined ? {} : { max_gas_limit: pin }
      const { chains } = await opened(bodyWith([rowOf(chainId, more)]))
      for (const envelope of [2, 4] as const) {
        expect(() => checkPins(transactionOf(chainId, highest, envelope), chains)).not.toThrow()
        const above = transactionOf(chainId, highest + 1n, envelope)
        expect(() => checkPins(above, chains)).toThrow('PAYLOAD_NOT_ALLOWED: gas limit')
      }
    },
  )
})

describe('the tokens of a registry', () => {
  test('a registry that was signed before has none, and keeps its bytes', async () => {
    const registry = await opened(bodyWith([rowOf(8453)]))
    expect(pinnedTokens(registry, 8453).size).toBe(0)
    expect(JSON.stringify(bodyOf(registry))).toBe(Buffer.from(registry.envelope.body).toString())
  })

  test('are found by address in any case, on their own chain alone', async () => {
    const tokens = [{ address: TOKEN, symbol: 'USDC', decimals: 6 }] as const
    const registry = await opened(bodyWith([rowOf(1, { tokens }), rowOf(10)]))
    const usdc = { symbol: 'USDC', decimals: 6 }
    expect(pinnedToken(registry, 1, TOKEN)).toEqual(usdc)
    expect(pinnedToken(registry, 1, TOKEN.toLowerCase())).toEqual(usdc)
    expect(pinnedToken(registry, 1, OTHER)).toBeNull()
    expect(pinnedToken(registry, 10, TOKEN)).toBeNull()
    expect(pinnedToken(registry, 137, TOKEN)).toBeNull()
  })

  const faulty: readonly (readonly [string, RegistryToken])[] = [
    ['an address that is none', { address: '0x12', symbol: 'USDC', decimals: 6 }],
    ['no symbol', { address: TOKEN, symbol: '', decimals: 6 }],
    ['a symbol that turns text around', { address: TOKEN, symbol: '\u202eCDSU', decimals: 6 }],
    ['a symbol that nobody sees', { address: TOKEN, symbol: 'US\u200bDC', decimals: 6 }],
    ['decimals below zero', { address: TOKEN, symbol: 'USDC', decimals: -1 }],
    ['parts of a decimal', { address: TOKEN, symbol: 'USDC', decimals: 6.5 }],
  ]

  test.each(faulty)(
    'the root signs none with %s, and the user side reads none',
    async (_what, token) => {
      const good = { address: OTHER, symbol: 'USD₮0', decimals: 6 } as const
      const body = bodyWith([rowOf(1, { tokens: [token, good] })])
      const registry = await opened(body)
      expect([...pinnedTokens(registry, 1).keys()]).toEqual([OTHER])
      const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      const out = join(tmpdir(), 'never-written.json')
      await expect(signRegistry(out, p256SignerOf(privateKey), body)).rejects.toThrow(
        'chain 1 of the registry',
      )
    },
  )

  test('the root signs no token twice, and no gas limit below that of a transfer', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const token = { address: TOKEN, symbol: 'USDC', decimals: 6 } as const
    const again = { ...token, address: TOKEN.toLowerCase() as typeof TOKEN }
    const bodies = [
      bodyWith([rowOf(1, { tokens: [token, again] })]),
      bodyWith([rowOf(1, { max_gas_limit: 20_999 })]),
      bodyWith([rowOf(1, { max_gas_limit: 30_000.5 })]),
    ]
    for (const body of bodies) {
      const signing = signRegistry(join(tmpdir(), 'none.json'), p256SignerOf(privateKey), body)
      await expect(signing).rejects.toThrow('chain 1 of the registry')
    }
  })
})

describe('what a registry is drafted with', () => {
  test.each(CHAIN_IDS)('chain %d has well-known tokens, each with its checksum, once', (id) => {
    const { knownTokens: tokens } = chainFacts(id)
    expect(tokens.map(({ address }) => address)).toEqual(
      tokens.map(({ address }) => getAddress(address.toLowerCase())),
    )
    expect(new Set(tokens.map(({ address }) => address)).size).toBe(tokens.length)
    expect(new Set(tokens.map(({ symbol }) => symbol)).size).toBe(tokens.length)
    expect(tokens.map(({ symbol }) => symbol)).toContain('USDC')
  })

  test('live: the tokens of chains.json and the well-known ones, by the file’s words where both name one', () => {
    const tokens = [tokenRow(TOKEN.toLowerCase(), 'USD Coin', 6), tokenRow(OTHER, 'HOUSE', 4)]
    const path = chainsFile([chainConfig(1, { tokens, max_gas_limit: 5_000_000 })])
    const [row] = registryChains(path, 'live')
    expect(row?.max_gas_limit).toBe(5_000_000)
    const named = new Map(row?.tokens?.map((token) => [token.address.toLowerCase(), token]))
    expect(named.size).toBe(chainFacts(1).knownTokens.length + 1)
    expect(named.get(TOKEN.toLowerCase())).toMatchObject({ symbol: 'USD Coin' })
    expect(named.get(OTHER)).toEqual({ address: OTHER, symbol: 'HOUSE', decimals: 4 })
  })

  test('dev: the tokens of its own chains alone, and a second start signs nothing again', async () => {
    const home = mkdtempSync(join(tmpdir(), 'cs-pins-dev-'))
    onTestFinished(() => rmSync(home, { recursive: true, force: true }))
    const tokens = [tokenRow(OTHER, 'USDC', 6)]
    const file = JSON.stringify({ chains: [chainConfig(8453, { tokens })] })
    writeFileSync(join(home, 'chains.json'), file)
    const first = await provisionDev(home)
    const registry = openRegistry(
      readRegistryFile(registryPath(home)),
      readRootKey(serviceLayout(home).rootKey),
    )
    expect([...pinnedTokens(registry, 8453)]).toEqual([[OTHER, { symbol: 'USDC', decimals: 6 }]])
    expect(registry.chains.get(8453)?.maxGasLimit).toBe(16_777_216n)
    expect(await provisionDev(home)).toEqual(first)
  })

  test('a draft without chains.json keeps the rows as they were signed', async () => {
    const home = mkdtempSync(join(tmpdir(), 'cs-pins-draft-'))
    onTestFinished(() => rmSync(home, { recursive: true, force: true }))
    await provisionDev(home, { chains: [rowOf(8453)] })
    const roots = [serviceLayout(home).rootKey]
    const drafted = (name: string, chains: string | null) =>
      draftNext(home, join(home, name), roots, { ended: [], chains }, 0).chains
    expect(drafted('a.json', null)).toEqual([rowOf(8453)])
    const path = chainsFile([chainConfig(8453, { tokens: [tokenRow(OTHER, 'USDC', 6)] })])
    expect(drafted('b.json', path)).toEqual([
      expect.objectContaining({
        max_gas_limit: 16_777_216,
        tokens: [{ address: OTHER, symbol: 'USDC', decimals: 6 }],
      }),
    ])
  })
})
