import { execFile, execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { operations } from '../../src/api/operations.js'
import { AGENT_COMMANDS } from '../../src/cli/agent-commands.js'
import type { Io } from '../../src/cli/io.js'
import { runProgram } from '../../src/cli/program.js'
import { fault } from '../../src/errors/fault.js'
import {
  CONSOLE_TOKEN,
  type Harness,
  READ_SECRET,
  startHarness,
  TRADE_SECRET,
} from '../http/harness.js'
import { sampleOutput } from '../mcp/sample-output.js'

const TO = '0x00000000000000000000000000000000000000aa'

let harness: Harness
let home: string
const statuses: string[] = []

const agent = Object.fromEntries(
  operations.map((row) => [
    row.name,
    (_context: unknown, input: Readonly<Record<string, unknown>>) => ({
      ok: true as const,
      value: { ...sampleOutput(row, input), ...given(row.name, input) },
    }),
  ]),
)

function given(name: string, input: Readonly<Record<string, unknown>>): object {
  if (name === 'get_transaction_status')
    return { tx_id: input.tx_id, status: statuses.shift() ?? 'confirmed' }
  if (name === 'send_transaction') return { tx_id: 'tx_9', status: 'broadcast', to: input.to }
  return {}
}

const key = {
  key_id: 'key_1',
  name: 'bot',
  permission: 'trade',
  status: 'active',
  secret_prefix: 'sk_test_abcd',
}

beforeAll(async () => {
  harness = await startHarness({
    agent: {
      ...agent,
      get_token_balances: () => ({ ok: false, fault: fault('CHAIN_UNAVAILABLE') }),
    },
    console: {
      list_keys: () => ({ ok: true, value: { keys: [key], next_cursor: null } }),
      create_key: (_context, input: Readonly<Record<string, unknown>>) => ({
        ok: true,
        status: 201,
        value: { ...key, ...input, secret: TRADE_SECRET },
      }),
      patch_key: (_context, input: Readonly<Record<string, unknown>>) => ({
        ok: true,
        value: { ...key, ...input },
      }),
      put_address_rule: (_context, input: Readonly<Record<string, unknown>>) => ({
        ok: true,
        value: { chain_id: null, note: null, created_at: 'now', ...input },
      }),
      list_address_rules: () => ({
        ok: true,
        value: { rules: [{ address: TO, action: 'block', note: 'why' }], next_cursor: null },
      }),
      delete_address_rule: (_context, input: Readonly<Record<string, unknown>>) => ({
        ok: true,
        value: { deleted: true, ...input },
      }),
      list_audit: (_context, input: Readonly<Record<string, unknown>>) => ({
        ok: true,
        value: { records: [{ at: 'then', details: {}, ...input }], next_cursor: 'older' },
      }),
      list_events: (_context, { after = 0 }: { readonly after?: number }) => ({
        ok: true,
        value: {
          events: [{ seq: after + 1, type: 'transaction.confirmed', data: { tx_id: 'tx_7' } }],
          next_after: after + 1,
          has_more: true,
          log_starts_after: 0,
        },
      }),
      redeliver_event: (_context, input: Readonly<Record<string, unknown>>) => ({
        ok: true,
        value: input,
      }),
      list_approvals: (_context, { status }: { readonly status?: string }) => ({
        ok: true,
        value: {
          approvals: [{ approval_id: 'apr_1', status, call: { to: TO } }],
          next_cursor: 'older',
        },
      }),
      create_webhook: (_context, input: Readonly<Record<string, unknown>>) => ({
        ok: true,
        status: 201,
        value: { webhook_id: 'wh_1', secret: 'whsec_x', ...input },
      }),
      freeze: (_context, input: Readonly<Record<string, unknown>>) => ({ ok: true, value: input }),
      set_breakers: (
        _context,
        { breakers }: { readonly breakers: string | readonly object[] },
      ) => ({
        ok: true,
        value: { breakers: typeof breakers === 'string' ? [{ kind: 'refusals' }] : breakers },
      }),
      revoke_key: () => ({ ok: false, fault: fault('NOT_FOUND') }),
      list_wallets: () => ({
        ok: true,
        value: {
          wallets: [
            {
              sub_wallet_id: 'sw_1',
              name: '\u001b[31mred',
              addresses: { evm: TO },
              created_at: 'now',
            },
          ],
          next_cursor: null,
        },
      }),
    },
  })
  home = await mkdtemp(join(tmpdir(), 'countersign-cli-'))
})
afterAll(async () => {
  await harness.server.close()
  await rm(home, { recursive: true })
})
beforeEach(() => {
  process.exitCode = 0
})

interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

async function run(args: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
  let out = ''
  let err = ''
  const io: Io = {
    env: {
      COUNTERSIGN_URL: harness.baseUrl,
      COUNTERSIGN_API_KEY: TRADE_SECRET,
      COUNTERSIGN_TOKEN: CONSOLE_TOKEN,
      COUNTERSIGN_HOME: home,
      ...env,
    },
    out: (text) => {
      out += text
    },
    err: (text) => {
      err += text
    },
    isInteractive: false,
  }
  const code = await runProgram(io, args)
  process.exitCode = 0
  return { code, out, err }
}

describe('reading', () => {
  it('prints a table for people and JSON for programs, the option before or after the command', async () => {
    expect((await run(['limits'])).out).toMatch(/^daily_limit_usd {2,}\S/)
    for (const args of [
      ['limits', '--json'],
      ['--json', 'limits'],
    ]) {
      const { code, out } = await run(args)
      expect(code).toBe(0)
      expect(JSON.parse(out)).toMatchObject({ daily_limit_usd: expect.any(String) })
    }
  })

  it('has a command for every operation that no other command makes', async () => {
    const { out } = await run(['--help'])
    for (const name of Object.values(AGENT_COMMANDS)) {
      if (name !== null) expect(out).toMatch(new RegExp(`^  ${name}\\b`, 'm'))
    }
    const asked = await run(['markets', '--chain', '8453', '--json'])
    expect(asked.err).toBe('')
    expect(harness.last()?.input).toEqual({ chain_id: 8453 })
    const simulated = await run(['simulate', '--chain', '1', '--to', TO])
    expect(simulated.out).toMatch(/^success {2,}/)
    expect(simulated.out).toMatch(/^asset_changes {2,}\[/m)
    const markets = await run(['markets'])
    expect(markets.out).toMatch(/^MARKET_ID {2,}CHAIN_ID/)
  })

  it('status tells whether the service is ready', async () => {
    const { code, out } = await run(['status'])
    expect(code).toBe(0)
    expect(out).toMatch(/status\s+ready/)
  })

  it('never lets names from elsewhere steer the terminal', async () => {
    const { out } = await run(['wallets'])
    expect(out).toContain('?[31mred')
    expect(out).not.toContain('\u001b')
  })

  it('sets, lists and removes address rules', async () => {
    const blocked = await run(['rules', 'block', TO, '--note', 'why', '--json'])
    expect(JSON.parse(blocked.out)).toMatchObject({ address: TO, action: 'block', note: 'why' })
    const allowed = await run(['rules', 'allow', TO, '--json'])
    expect(JSON.parse(allowed.out)).toMatchObject({ address: TO, action: 'allow' })
    expect((await run(['rules'])).out).toContain(TO)
    const removed = await run(['rules', 'remove', TO, '--json'])
    expect([removed.err, removed.out]).toEqual(['', expect.stringContaining(TO)])
  })

  it('reads the audit trail by wallet, key and kind, and says where it goes on', async () => {
    const given = ['--wallet', 'sw_1', '--key', 'key_1', '--type', 'send.refused', '--limit', '5']
    const { out, err } = await run(['audit', ...given])
    for (const shown of ['send.refused', 'sw_1', 'key_1']) expect(out).toContain(shown)
    expect(err).toContain('--cursor older')
    expect((await run(['audit', '--type', 'nonsense'])).code).toBe(2)
  })

  it('reads the event log from where it is told, and delivers an event again', async () => {
    const { out, err } = await run(['events', '--after', '41'])
    expect(out).toMatch(/42 .*tx_7/)
    expect(err).toContain('--after 42')
    const again = await run(['events', 'redeliver', 'evt_1', '--json'])
    expect(JSON.parse(again.out)).toEqual({ event_id: 'evt_1' })
  })

  it('says of a key what may be unpriced and what may not be sent twice', async () => {
    const choices = ['--unpriced-assets', 'allow', '--duplicate-guard', 'on', '--json']
    const said = { unpriced_assets: 'allow', duplicate_guard: 'on' }
    const caps = ['--daily', '1', '--monthly', '1']
    const made = await run(['keys', 'create', 'bot', '--wallet', 'sw_1', ...caps, ...choices])
    expect(JSON.parse(made.out)).toMatchObject(said)
    const changed = await run(['keys', 'change', 'key_1', ...choices])
    expect(JSON.parse(changed.out)).toMatchObject(said)
    expect((await run(['keys', 'change', 'key_1', '--duplicate-guard', 'maybe'])).code).toBe(2)
  })

  it('takes its defaults from the development instance', async () => {
    const dev = { base_url: harness.baseUrl, keys: { trade: { secret: TRADE_SECRET } } }
    await writeFile(join(home, 'dev.json'), JSON.stringify(dev))
    const { promise, io } = capture({ COUNTERSIGN_HOME: home })
    expect(await runProgram(io, ['limits', '--json'])).toBe(0)
    expect(promise().out).toContain('daily_limit_usd')
    await rm(join(home, 'dev.json'))
  })
})

function capture(env: Record<string, string>) {
  let out = ''
  const io: Io = {
    env,
    out: (text) => {
      out += text
    },
    err: () => {},
    isInteractive: false,
  }
  return { io, promise: () => ({ out }) }
}

describe('writing', () => {
  it('sends under the key it was given, and waits', async () => {
    statuses.push('broadcast', 'confirmed')
    const args = [
      'send',
      '--chain',
      '1',
      '--to',
      TO,
      '--value',
      '5',
      '--idempotency-key',
      'k1',
      '--wait',
      '--json',
    ]
    const { code, out } = await run(args)
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ tx_id: 'tx_9', status: 'confirmed' })
  })

  it('says by its exit code that a transaction failed', async () => {
    statuses.push('failed')
    expect((await run(['tx', 'tx_9', '--wait'])).code).toBe(3)
  })

  it('issues keys, with the secret on stdout and the warning next to it', async () => {
    const args = [
      'keys',
      'create',
      'bot',
      '--wallet',
      'sw_1',
      '--daily',
      '5',
      '--monthly',
      'unlimited',
      '--chains',
      '1,8453',
    ]
    const { code, out, err } = await run(args)
    expect(code).toBe(0)
    expect(out).toContain(TRADE_SECRET)
    expect(err).toContain('once')
    expect(harness.last()?.input).toEqual({
      name: 'bot',
      sub_wallet_id: 'sw_1',
      permission: 'read',
      daily_limit_usd: '5',
      monthly_limit_usd: 'unlimited',
      allowed_chains: [1, 8453],
    })
  })
})

describe('what documents name besides', () => {
  it('lists calls that wait, and says where the list goes on', async () => {
    const { out, err } = await run(['approvals', 'list', '--status', 'pending'])
    expect(out).toMatch(/apr_1 .*pending/)
    expect(err).toContain('--cursor older')
  })

  it('shows one transaction of the key', async () => {
    const { out } = await run(['tx', 'show', 'tx_9', '--json'])
    expect(JSON.parse(out)).toMatchObject({ tx_id: 'tx_9', status: 'confirmed' })
  })

  it('has a key make one within its own, whose secret is shown once', async () => {
    const caps = ['--daily', '1', '--monthly', '2', '--chains', '8453']
    const ends = ['--expires', '2126-12-31T00:00:00Z']
    const { code, err } = await run(['keys', 'child', 'helper', ...caps, ...ends])
    expect([code, err]).toEqual([0, expect.stringContaining('once')])
    expect(harness.last()?.input).toMatchObject({ name: 'helper', daily_limit_usd: '1' })
  })

  it('puts a policy in words, with the text that is signed', async () => {
    const file = join(home, 'policy.json')
    const rules = [{ name: 'small', effect: 'allow', when: { to: [TO] } }]
    await writeFile(file, JSON.stringify({ rules, default: 'deny' }))
    const { code, out, err } = await run(['policy', 'explain', file])
    expect([code, err]).toEqual([0, ''])
    for (const shown of ['small', 'default', 'deny', 'canonical']) expect(out).toContain(shown)
  })

  it('shows each rule of a policy, whatever it is called', async () => {
    const names = ['canonical', 'one call', 'ceiling 1', '7']
    const rules = names.map((name) => ({ name, effect: 'allow' }))
    const ceilings = [{ chain_id: 8453, token: 'native', per: 'day', amount: '1' }]
    const file = join(home, 'named.json')
    const policy = { rules, ceilings, default: 'deny', per_transaction_usd: '5' }
    await writeFile(file, JSON.stringify(policy))
    const { out } = await run(['policy', 'explain', file])
    expect(out.match(/Allow every call/g)).toHaveLength(names.length)
    expect(out).toContain('at most 5.00 USD')
  })

  it.each([
    ['payments', ['--payees', TO]],
    ['strangers', []],
    ['trading', []],
  ])('writes the template %s as a policy that it can explain', async (name, more) => {
    const bounds = ['--chain', '8453', '--token', 'native', '--per-day', '1000']
    const made = await run(['policy', 'template', name, ...bounds, ...more])
    expect([made.code, made.err]).toEqual([0, ''])
    const file = join(home, `${name}.json`)
    await writeFile(file, made.out)
    const { code, out } = await run(['policy', 'explain', file])
    expect([code, out]).toEqual([0, expect.stringContaining('canonical')])
  })

  it("sets the user's breakers by a preset or a file, and by one of the two", async () => {
    expect((await run(['breakers', 'set', '--preset', 'usual'])).err).toBe('')
    expect(harness.last()?.input).toEqual({ breakers: 'usual' })
    const file = join(home, 'breakers.json')
    const breakers = [{ kind: 'refusals', count: 3, per_seconds: 60 }]
    await writeFile(file, JSON.stringify(breakers))
    expect((await run(['breakers', 'set', '--file', file])).code).toBe(0)
    expect(harness.last()?.input).toEqual({ breakers })
    expect((await run(['breakers', 'set'])).err).toContain('--preset or --file')
  })

  it('registers a webhook for the events it names', async () => {
    const url = 'https://hooks.example.com/in'
    const made = await run(['webhooks', 'create', url, '--events', 'transaction.confirmed'])
    expect(made.err).toBe('The secret is shown only once.\n')
    expect(harness.last()?.input).toEqual({ url, events: ['transaction.confirmed'] })
  })

  it('freezes a key, a wallet or all, with the reason', async () => {
    expect((await run(['freeze', '--key', 'key_1', '--reason', 'look'])).code).toBe(0)
    expect(harness.last()?.input).toEqual({ scope: 'key', id: 'key_1', reason: 'look' })
    expect((await run(['freeze'])).code).toBe(0)
    expect(harness.last()?.input).toEqual({ scope: 'user' })
  })

  it('lets a person in, lists who may sign in, and gives a new link for a forgotten password', async () => {
    const data = join(home, 'identity-provider')
    await mkdir(data, { mode: 0o700 })
    const issuer = 'https://id.example.com'
    await writeFile(join(data, 'issuer.json'), JSON.stringify({ issuer }))
    const email = 'grace@example.com'
    const first = JSON.parse((await run(['users', 'create', email, '--json'])).out)
    const again = JSON.parse((await run(['users', 'invite-again', email, '--json'])).out)
    expect(again.user_id).toBe(first.user_id)
    expect(again.link).not.toBe(first.link)
    expect((await run(['users', 'list'])).out).toContain(email)
    expect((await run(['users', 'invite-again', 'nobody@example.com'])).code).not.toBe(0)
  })
})

describe('exit codes', () => {
  it.each([
    ['usage', ['nonsense'], {}, 2],
    ['an option that is missing', ['send', '--chain', '1'], {}, 2],
    ['a number that is none', ['send', '--chain', 'x', '--to', TO], {}, 2],
    ['no key', ['limits'], { COUNTERSIGN_API_KEY: undefined as unknown as string }, 2],
    ['a refusal', ['send', '--chain', '10', '--to', TO], {}, 3],
    [
      'a read key that writes',
      ['send', '--chain', '1', '--to', TO],
      { COUNTERSIGN_API_KEY: READ_SECRET },
      3,
    ],
    [
      'a swap that nobody agreed to',
      ['swap', '--chain', '1', '--from', TO, '--to', 'native', '--amount', '1'],
      {},
      2,
    ],
    ['nobody there', ['status'], { COUNTERSIGN_URL: 'http://127.0.0.1:1' }, 4],
    ['a chain that is down', ['balances', '--chain', '1'], {}, 4],
    ['another user’s key', ['keys', 'revoke', 'key_2'], {}, 3],
  ])('%s', async (_what, args, env, code) => {
    expect((await run(args, env)).code).toBe(code)
  })

  it('help and version are no errors', async () => {
    expect((await run(['--help'])).code).toBe(0)
    expect((await run(['--version'])).out).toMatch(/^\d+\.\d+\.\d+/)
  })

  it('errors are JSON too, and never hold the key', async () => {
    const { err } = await run(['send', '--chain', '10', '--to', TO, '--json'])
    expect(JSON.parse(err)).toMatchObject({ error: { code: 'CHAIN_NOT_ALLOWED' } })
    expect(err).not.toContain(TRADE_SECRET)
  })
})

it('has every command, each with help', async () => {
  const wanted = ['start', 'status', 'wallets', 'keys', 'limits', 'send', 'swap', 'tx', 'webhooks']
  const records = ['balances', 'simulate', 'allowances', 'gas-swap', 'events', 'rules', 'audit']
  const stops = ['freeze', 'unfreeze']
  const operator = ['lists', 'custody', 'contracts', 'gas-wallets', 'bench', 'completion']
  const { out } = await run(['--help'])
  for (const name of [...wanted, ...records, ...stops, ...operator])
    expect(out).toMatch(new RegExp(`^  ${name}\\b`, 'm'))
  const rows: readonly [string, readonly string[]][] = [
    ['keys', ['create', 'list', 'rotate', 'revoke']],
    ['contracts', ['deploy', 'verify', 'configure', 'pause', 'unpause', 'rotate-cosigner']],
    ['gas-wallets', ['list', 'top-up']],
  ]
  for (const [group, names] of rows) {
    const { code, out: help } = await run([group, '--help'])
    expect(code).toBe(0)
    for (const name of names) expect(help).toMatch(new RegExp(`^  ${name}\\b`, 'm'))
  }
})

describe('completion', () => {
  it.each(['bash', 'zsh', 'fish'])('makes a script for %s', async (shell) => {
    const { code, out } = await run(['completion', shell])
    expect(code).toBe(0)
    expect(out).toContain('deliveries')
  })

  it('the script for bash completes commands and options', async () => {
    const { out } = await run(['completion', 'bash'])
    const ask = `${out}\nCOMP_WORDS=(countersign keys create --d); COMP_CWORD=3; _countersign; echo "\${COMPREPLY[@]}"`
    expect(execFileSync('bash', ['-c', ask], { encoding: 'utf8' })).toContain('--daily')
  })
})

it('runs from a checkout as a program', async () => {
  await promisify(execFile)(process.execPath, ['scripts/build.mjs'])
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['dist/src/cli/main.js', 'limits', '--json'],
    {
      env: { ...process.env, COUNTERSIGN_URL: harness.baseUrl, COUNTERSIGN_API_KEY: TRADE_SECRET },
    },
  )
  expect(JSON.parse(stdout)).toHaveProperty('daily_limit_usd')
}, 120_000)
