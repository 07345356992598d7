import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import type { ChainsFile } from '../../src/config/chains.js'
import { parseUsd } from '../../src/domain/money.js'
import { runApprovalKills } from '../faults/approval-kills.js'
import { type Fault, type FaultProxy, startFaultProxy } from '../support/fault-proxy.js'
import { closeBooks, openBooks } from './books.js'
import { erc20Transfer, newAddress } from './chain.js'
import { sampleLimits } from './limit-samples.js'
import { runLoad } from './load.js'
import { issueKey, type Stack, startStack, transactionsOf } from './stack.js'

const BASE = 8453
const OPTIMISM = 10
const USD = 1_000_000n

/** `npm run test:long -- crash` asks for more than the everyday suite can wait for. */
const ROUNDS = Number(process.env.CRASH_ROUNDS ?? 2)
const SENDS = Number(process.env.CRASH_SENDS ?? 120)
const CONNECTIONS = Number(process.env.CRASH_CONNECTIONS ?? 25)
const CAP_USD = Number(process.env.CRASH_CAP_USD ?? 40)
const KILLS_PER_ROUND = Number(process.env.CRASH_KILLS ?? 1)
/** After an answer at random, so that any step of the sends under way may be cut. */
const KILL_AFTER_MS_MAX = 25
/** `npm run test:long -- approval-kills` lets 200 live; `APPROVAL_KILLS_SEED` has one of its runs again. */
const LIVES = Number(process.env.APPROVAL_KILLS ?? 4)
const LIVES_SEED = Number(process.env.APPROVAL_KILLS_SEED ?? Date.now() % 1_000_000)
const LIFE_TIMEOUT_MS = 20_000
const ROUND_TIMEOUT_MS = 180_000

describe('a crash', () => {
  let stack: Stack
  let proxy: FaultProxy
  beforeAll(async () => {
    stack = await startStack()
    const { service } = stack
    proxy = await startFaultProxy({ upstream: service.dev().rpc[BASE] ?? '' })
    await service.restartNodes(() => {
      for (const { home } of service.nodes()) pointChainAt(home, BASE, proxy.url)
    })
  })
  afterEach(() => proxy?.clear())
  afterAll(async () => {
    await stack?.service.stop()
    await proxy?.close()
  })

  // What a node has may be seen in a block before the kill, though the node's answer is lost.
  test.for<{ title: string; fault: Fault; seen: readonly string[] }>([
    {
      title: 'no node has seen them',
      fault: { kind: 'hang', forward: false },
      seen: ['signed'],
    },
    {
      title: 'a node has them, and its answer is lost',
      fault: { kind: 'hang', forward: true },
      seen: ['signed', 'broadcast', 'confirmed'],
    },
  ])('between store and broadcast sends the same bytes once ($title)', async ({ fault, seen }) => {
    const { service, owner } = stack
    const recipient = newAddress()
    const key = await issueKey(stack, { chains: [BASE] })
    const opening = await openBooks(stack, key, BASE, recipient)
    proxy.inject({ method: 'eth_sendRawTransaction', fault })
    const unanswered = Array.from({ length: 5 }, () =>
      key.api
        .post('/api/tx/send', {
          chain_id: BASE,
          to: opening.chain.usdc,
          data: erc20Transfer(recipient, USD),
        })
        .catch(() => null),
    )
    const signed = await vi.waitFor(
      async () => {
        const stored = await transactionsOf(owner, key.keyId)
        expect(stored).toHaveLength(5)
        return stored
      },
      { timeout: 60_000, interval: 50 },
    )
    expect(seen).toEqual(expect.arrayContaining(signed.map(({ status }) => status)))
    const pid = service.dev().pids.service ?? 0
    service.signal('service', 'SIGKILL')
    await Promise.all(unanswered)
    proxy.clear()
    await service.awaitRestart('service', pid)

    const landed = await closeBooks(stack, opening)
    const bytes = (txs: typeof signed) =>
      txs.map(({ tx_id, nonce, tx_hash }) => `${tx_id} ${nonce} ${tx_hash}`).sort()
    expect(bytes(landed)).toEqual(bytes(signed))
  })

  test.for(Array.from({ length: ROUNDS }, (_, i) => i + 1))(
    'at random instants under load loses nothing, sends nothing twice, passes no cap (round %i)',
    { timeout: ROUND_TIMEOUT_MS },
    async () => {
      const { service } = stack
      const recipient = newAddress()
      const key = await issueKey(stack, { dailyUsd: String(CAP_USD), chains: [OPTIMISM] })
      const opening = await openBooks(stack, key, OPTIMISM, recipient)
      const spacing = Math.floor((CAP_USD - CONNECTIONS / 2) / KILLS_PER_ROUND)
      let killed: Promise<void> = Promise.resolve()
      let nextKillAt = Math.floor(Math.random() * spacing)
      const running = runLoad({
        key,
        chainId: OPTIMISM,
        usdc: opening.chain.usdc,
        recipient,
        sends: SENDS,
        connections: CONNECTIONS,
        onAnswered(count) {
          if (count < nextKillAt) return
          nextKillAt += spacing
          if (nextKillAt > spacing * (KILLS_PER_ROUND + 1)) return
          killed = killed
            .then(() => delay(Math.random() * KILL_AFTER_MS_MAX))
            .then(() => service.killAndAwaitRestart('service'))
        },
      })
      const limits = await sampleLimits(key.api, running)
      const { sent, refused, seen } = await running
      await killed
      expect(limits.samples).toBeGreaterThan(0)
      expect(limits.highestUsed).toBeLessThanOrEqual(BigInt(CAP_USD) * USD)
      // Whoever asks by way of another node hears from that one that nobody knows.
      const met = (seen.get('no answer') ?? 0) + (seen.get('504 OUTCOME_UNKNOWN') ?? 0)
      expect(met, 'no request met a crash').toBeGreaterThan(0)
      expect(sent.length + refused).toBe(SENDS)

      const all = await closeBooks(stack, opening)
      // A transaction that no request was told of would be one sent twice.
      expect(all.map(({ tx_id }) => tx_id).sort()).toEqual([...new Set(sent)].sort())
      expect(new Set(sent).size).toBe(sent.length)
      const spent = all.reduce((sum, tx) => sum + (parseUsd(tx.spend_usd) ?? 0n), 0n)
      expect(spent).toBeLessThanOrEqual(BigInt(CAP_USD) * USD)
      // Worst-case gas is reserved until a send is final, so the last dollars may stay unspent.
      expect(sent.length).toBeGreaterThanOrEqual(Math.min(SENDS, CAP_USD) * 0.8)
    },
  )

  test.for(['identity_provider', 'quorum_signer'] as const)(
    'of the %s stops writes with 503, keeps nothing reserved, and heals without a restart',
    async (part) => {
      const { service } = stack
      const servicePid = service.dev().pids.service
      const recipient = newAddress()
      const key = await issueKey(stack, { chains: [OPTIMISM] })
      const opening = await openBooks(stack, key, OPTIMISM, recipient)
      let restarted: Promise<void> | null = null
      let refused = () => {}
      const isRefused = new Promise<void>((resolve) => {
        refused = resolve
      })
      /** It stays away until a send has met that: a busy machine may have it back before. */
      async function goAway(): Promise<void> {
        const pid = service.dev().pids[part] ?? 0
        service.restarts(false)
        service.signal(part, 'SIGKILL')
        try {
          await Promise.race([isRefused, running])
        } finally {
          service.restarts(true)
        }
        await service.awaitRestart(part, pid)
      }
      const running = runLoad({
        key,
        chainId: OPTIMISM,
        usdc: opening.chain.usdc,
        recipient,
        sends: 60,
        connections: 10,
        // By the count and not by the clock: a fast machine would be through before.
        onAnswered(count) {
          if (count >= 10) restarted ??= goAway()
        },
        onSeen(fate) {
          if (fate === '503 COSIGNER_UNAVAILABLE') refused()
        },
      })
      await vi.waitUntil(() => restarted !== null, { timeout: 90_000, interval: 5 })
      expect((await key.api.get('/api/limits')).status).toBe(200)
      await restarted
      const { sent, seen } = await running
      expect(seen.get('503 COSIGNER_UNAVAILABLE'), [...seen].join('; ')).toBeGreaterThan(0)
      expect(seen.has('no answer')).toBe(false)
      expect(sent).toHaveLength(60)
      const all = await closeBooks(stack, opening)
      expect(all).toHaveLength(60)
      expect(service.dev().pids.service).toBe(servicePid)
    },
  )

  test(`leaves a call that waits signed by proof alone, once, and neither lost nor held (seed ${LIVES_SEED})`, {
    timeout: ROUND_TIMEOUT_MS + LIVES * LIFE_TIMEOUT_MS,
  }, async () => {
    const report = await runApprovalKills(stack, {
      ...{ seed: LIVES_SEED, lives: LIVES },
      progress(sentence) {
        if (LIVES > 8) process.stdout.write(`${sentence}\n`)
      },
    })
    console.info(report)
    expect(report.wrong, `seed ${LIVES_SEED}`).toEqual([])
  })
})

/** An operator's edit: it counts from the service's next start. */
function pointChainAt(home: string, chainId: number, url: string): void {
  const path = join(home, 'chains.json')
  const file = JSON.parse(readFileSync(path, 'utf8')) as ChainsFile
  const chains = file.chains.map((chain) =>
    chain.id === chainId ? { ...chain, rpc_urls: [url] } : chain,
  )
  writeFileSync(path, JSON.stringify({ ...file, chains }))
}
