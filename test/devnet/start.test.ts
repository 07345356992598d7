import { execFile } from 'node:child_process'
import { existsSync, lstatSync, readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createPublicClient, http } from 'viem'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { coSignerKeysOf } from '../../src/cli/operator/co-signer-keys.js'
import { readChainsFile } from '../../src/config/chains.js'
import agentRouter from '../../src/contracts/generated/agent-router.json' with { type: 'json' }
import type { Address } from '../../src/domain/ids.js'
import { freePort } from '../support/ports.js'
import { isAlive, scratchDir } from './support/observer.js'
import { pidsOf, type Started, spawnStart, startDev } from './support/started.js'

const SCRIPTS = fileURLToPath(new URL('../../dist/scripts/dev', import.meta.url))
const ALICE = '0x00000000000000000000000000000000000a11ce'
const BOB = '0x0000000000000000000000000000000000000b0b'

/** One home, whose instance is started, hurt and started again; the tests follow its life. */
describe('npm start', { timeout: 360_000 }, () => {
  let scratch: ReturnType<typeof scratchDir>
  let home: string
  let port: number
  let started: Started

  beforeAll(async () => {
    scratch = scratchDir()
    home = join(scratch.path, 'home')
    started = await startDev(home)
    port = started.port
  }, 360_000)
  afterAll(async () => {
    await started?.stop()
    scratch.dispose()
  }, 120_000)

  async function api(path: string, body?: unknown): Promise<Response> {
    const { base_url, keys } = started.dev()
    return fetch(base_url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'x-api-key': keys.trade.secret, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  }
  /** Every transaction the tests were told of: a `202` is one that a node takes later. */
  const sentIds: string[] = []
  const send = async (to: string, value: string) => {
    const response = await api('/api/tx/send', { chain_id: 8453, to, value })
    const body = await response.json()
    if (body.tx_id !== undefined) sentIds.push(body.tx_id)
    return { status: response.status, body }
  }
  async function balance(chainId: number, of: string): Promise<bigint> {
    const response = await fetch(started.dev().rpc[chainId] ?? '', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'eth_getBalance',
        params: [of, 'latest'],
      }),
    })
    return BigInt(((await response.json()) as { result: string }).result)
  }
  async function script(name: string, ...args: string[]) {
    const env = { PATH: process.env.PATH, COUNTERSIGN_HOME: home }
    const command = [join(SCRIPTS, `${name}.js`), ...args]
    return promisify(execFile)(process.execPath, command, { env }).then(
      ({ stdout }) => ({ code: 0, stdout, stderr: '' }),
      (error: { code: number; stdout: string; stderr: string }) => error,
    )
  }

  test('makes nothing that others could read, but what is public by design', () => {
    const isPublic = (name: string) => name === 'registry.json' || name === 'root.pub.pem'
    const open = readdirSync(home, { recursive: true, encoding: 'utf8' }).flatMap((path) => {
      const { mode } = lstatSync(join(home, path))
      const others = mode & 0o077
      return others === 0 || (isPublic(basename(path)) && others === 0o044) ? [] : [path]
    })
    expect(open).toEqual([])
    expect(statSync(join(home, 'registry.json')).mode & 0o777).toBe(0o644)
  })

  test('leaves a wallet with money on six chains and two keys that work', async () => {
    const dev = started.dev()
    expect(Object.keys(dev.rpc)).toEqual(['1', '10', '56', '137', '8453', '42161'])
    for (const chainId of [1, 10, 56, 137, 8453, 42161]) {
      expect(await balance(chainId, dev.address)).toBe(10n ** 19n)
      const usdc = dev.tokens[chainId]?.USDC
      const held = await api(`/api/wallet/balance?chain_id=${chainId}&token=${usdc}`)
      const decimals = chainId === 56 ? 18 : 6
      expect(await held.json()).toMatchObject({ balance: `50000${'0'.repeat(decimals)}`, decimals })
    }
    expect((await send(ALICE, '5')).body).toMatchObject({ status: 'broadcast' })
  })

  test('deploys a Router that takes the co-signer everywhere but on Arbitrum', async () => {
    const { chains } = readChainsFile(join(home, 'chains.json'))
    for (const { id, router, rpc_urls } of chains) {
      expect(router === null, String(id)).toBe(id === 42161)
      if (router === null) continue
      const coSigners = await createPublicClient({ transport: http(rpc_urls[0]) }).readContract({
        address: router as Address,
        abi: agentRouter.abi,
        functionName: 'coSigners',
      })
      expect(coSigners.map(({ key }) => ({ ...key, endsInSeconds: null }))).toEqual(
        coSignerKeysOf(home, Date.now()),
      )
    }
  })

  test('keeps what holds secrets to its owner', () => {
    for (const name of ['dev.json', 'dev-keys.json', 'dev-user.json', 'chains/deployer.json']) {
      expect(statSync(join(home, name)).mode & 0o777, name).toBe(0o600)
    }
  })

  test('shows three commands that work when pasted', async () => {
    const commands = started
      .output()
      .split('\n')
      .filter((line) => line.startsWith('    curl '))
    expect(commands).toHaveLength(3)
    const answers = await Promise.all(
      commands.map(async (line) =>
        JSON.parse((await promisify(execFile)('sh', ['-c', line])).stdout),
      ),
    )
    expect(answers[0]).toHaveProperty('daily_limit_usd', '10000.00')
    expect(answers[1]).toHaveProperty('symbol', 'USDC')
    expect(answers[2]).toHaveProperty('status', 'broadcast')
    sentIds.push(answers[2].tx_id)
  })

  test('has nothing broken that the doctor could find', async () => {
    const program = join(SCRIPTS, '../../../scripts/countersign.mjs')
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [program, 'doctor', '--home', home, '--json'],
      { env: { PATH: process.env.PATH } },
    ).catch((error: { stdout: string }) => error)
    const { findings } = JSON.parse(stdout)
    expect(findings.filter(({ status }: { status: string }) => status === 'fail')).toEqual([])
  })

  test('serves the faucet: mined when it answers, refused with a reason', async () => {
    const funded = await script('fund', '--chain', '137', '--to', BOB, '--amount', '2.5', '--json')
    expect(JSON.parse(funded.stdout)).toMatchObject({ chain_id: 137, token: 'POL' })
    expect(await balance(137, BOB)).toBe(2_500_000_000_000_000_000n)
    const parallel = await Promise.all(
      Array.from({ length: 3 }, () => script('fund', '--chain', '1', '--to', BOB, '--amount', '1')),
    )
    expect(parallel.map(({ code }) => code)).toEqual([0, 0, 0])
    expect(await balance(1, BOB)).toBe(3n * 10n ** 18n)
    const refused = await script(
      'fund',
      '--chain',
      '1',
      '--to',
      BOB,
      '--amount',
      '1',
      '--token',
      'X',
    )
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toBe('fund: chain 1 has no token X; it has native, USDC, WETH, CSDT\n')
  })

  test('refuses a second instance in its home, and a taken port, in a sentence', async () => {
    const second = spawnStart(home, await freePort())
    expect(await second.ended).toBe(1)
    expect(second.output()).toContain(`${home} is in use by npm start, pid`)
    const taken = spawnStart(join(scratch.path, 'elsewhere'), port)
    expect(await taken.ended).toBe(1)
    expect(taken.output()).toContain(`port ${port} is taken`)
    expect((await script('reset', '--yes')).stderr).toContain('is in use by npm start')
  })

  test('runs alongside a second instance with its own money', async () => {
    const other = await startDev(join(scratch.path, 'other'))
    try {
      const mine = started.dev()
      const theirs = other.dev()
      expect(theirs.address).not.toBe(mine.address)
      expect(
        Object.values(theirs.rpc).filter((url) => Object.values(mine.rpc).includes(url)),
      ).toEqual([])
      const stranger = await fetch(`${theirs.base_url}/api/limits`, {
        headers: { 'x-api-key': mine.keys.trade.secret },
      })
      expect(stranger.status).toBe(401)
      expect((await api('/api/limits')).status).toBe(200)
    } finally {
      await other.stop()
    }
    expect(pidsOf(other.dev()).filter(isAlive)).toEqual([])
  })

  test('has a new wallet service take over when it is told to, and says so in dev.json', async () => {
    const before = started.dev().pids
    const { code, stdout, stderr } = await script('restart')
    expect([code, stderr]).toEqual([0, ''])
    const after = started.dev().pids
    expect(stdout).toContain(`pid ${after.service}`)
    expect({ ...after, service: null }).toEqual({ ...before, service: null })
    expect(isAlive(Number(before.service))).toBe(false)
    expect((await send(ALICE, '1')).status).toBe(200)
  })

  test('starts what is killed again, and says so in dev.json', async () => {
    for (const name of ['quorum_signer', 'identity_provider', 'service'] as const) {
      const pid = Number(started.dev().pids[name])
      process.kill(pid, 'SIGKILL')
      await vi.waitFor(() => expect(started.dev().pids[name]).not.toBe(pid), { timeout: 120_000 })
    }
    const chain = Number(started.dev().pids.chains[8453])
    process.kill(chain, 'SIGKILL')
    await vi.waitFor(() => expect(started.dev().pids.chains[8453]).not.toBe(chain), {
      timeout: 120_000,
    })
    expect(pidsOf(started.dev()).every(isAlive)).toBe(true)
    await vi.waitFor(async () => expect((await send(ALICE, '7')).status).toBe(200), {
      timeout: 120_000,
      interval: 250,
    })
  })

  test('comes back as it was after everything was told to end at once', async () => {
    const before = started.dev()
    for (const id of sentIds) {
      const settled = async () => (await (await api(`/api/tx/${id}`)).json()).status
      await vi.waitFor(async () => expect(await settled()).toBe('confirmed'), { timeout: 120_000 })
    }
    const held = await balance(8453, ALICE)
    expect(held).toBeGreaterThanOrEqual(12n)
    expect(await started.stop('SIGTERM')).toBe(0)
    expect(pidsOf(before).filter(isAlive)).toEqual([])
    started = await startDev(home, port)
    const after = started.dev()
    expect({ ...after, pids: null }).toEqual({ ...before, pids: null })
    expect(await balance(8453, ALICE)).toBe(held)
    expect((await send(ALICE, '9')).status).toBe(200)
  })

  test('leaves nothing running when it is killed itself, and starts again over what is left', async () => {
    const before = started.dev()
    expect(started.supervisor.kill('SIGKILL')).toBe(true)
    await vi.waitFor(() => expect(pidsOf(before).filter(isAlive)).toEqual([]), { timeout: 60_000 })
    started = await startDev(home, port)
    expect(started.dev().keys).toEqual(before.keys)
    expect((await api('/api/limits')).status).toBe(200)
  })

  test('comes up when the last trade key was revoked and a new one takes the own authorizer', async () => {
    const elsewhere = { PATH: process.env.PATH, XDG_CONFIG_HOME: join(scratch.path, 'config') }
    const paste = async (line: string) => {
      const options = { env: elsewhere, cwd: scratch.path }
      const { stdout } = await promisify(execFile)('sh', ['-c', `${line} --json`], options)
      return JSON.parse(stdout)
    }
    // The banner comes after dev.json, by which a start is known to be done.
    const shown = (command: string) =>
      vi.waitFor(
        () => {
          const [line] = new RegExp(`node '.*${command}.*`).exec(started.output()) ?? []
          if (line === undefined) throw new Error(`no "${command}" in ${started.output()}`)
          return line
        },
        { timeout: 60_000 },
      )
    const { trade, read } = started.dev().keys
    const authorize = await shown('authorizer create')
    await paste(authorize)
    await paste(authorize.replace('authorizer create', `keys revoke ${trade.key_id}`))
    expect(await started.stop()).toBe(0)
    started = await startDev(home, port)
    expect(started.dev().keys).toEqual({ trade: null, read })
    const made = await paste(await shown("keys create 'dev trade'"))
    expect(made).toMatchObject({ authorized_by: 'p256', permission: 'trade' })
    const limits = await fetch(`${started.dev().base_url}/api/limits`, {
      headers: { 'x-api-key': made.secret },
    })
    expect(await limits.json()).toHaveProperty('daily_limit_usd', '10000.00')
  })

  test('is taken back to before its first start by npm run dev -- reset, lists aside', async () => {
    await started.stop()
    expect((await script('reset')).code).toBe(0)
    expect(existsSync(join(home, 'chains'))).toBe(false)
    expect(existsSync(join(home, 'dev-keys.json'))).toBe(false)
    expect(existsSync(join(home, 'lists'))).toBe(true)
    const elsewhere = await promisify(execFile)(
      process.execPath,
      [join(SCRIPTS, 'reset.js'), '--yes'],
      {
        env: { PATH: process.env.PATH, COUNTERSIGN_HOME: scratch.path },
      },
    ).catch((error: { stderr: string }) => error)
    expect(elsewhere.stderr).toContain('is not a Countersign home; nothing removed')
  })
})
