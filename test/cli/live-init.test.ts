import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Io } from '../../src/cli/io.js'
import { nextSteps } from '../../src/cli/live/installation-files.js'
import { runProgram } from '../../src/cli/program.js'
import { readChainPolicies, readChainsFile } from '../../src/config/chains.js'
import { readConfig } from '../../src/config/env.js'
import { parseTrustedProxies } from '../../src/config/trusted-proxies.js'
import { CHAIN_IDS, chainFacts } from '../../src/domain/chains.js'
import { readIdentitySettings } from '../../src/identity-provider/settings.js'
import { LIVE_CHOICES } from './live-choices.js'

const URLS = ['--service-url', 'https://w.example.com', '--identity-url', 'https://id.example.com']
const FEED = '0x1111111111111111111111111111111111111111'

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'cs-init-'))
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

async function init(name: string, flags: readonly string[], ask?: Io['ask']) {
  let err = ''
  const io: Io = {
    env: {},
    out: () => undefined,
    err: (text) => {
      err += text
    },
    isInteractive: false,
    ...(ask === undefined ? {} : { ask }),
  }
  const target = join(directory, name)
  return { code: await runProgram(io, ['live', 'init', target, ...flags]), err, target }
}

/** As systemd would hand it over. */
function environmentAt(target: string, name: string): Record<string, string> {
  const lines = readFileSync(join(target, 'environment', `${name}.env`), 'utf8').split('\n')
  return Object.fromEntries(
    lines.filter((line) => /^[A-Z_]+=/.test(line)).map((line) => line.split(/=(.*)/, 2)),
  )
}

test.each([
  ['/home/grace/node_modules/countersign', '/usr/bin/node'],
  ['/root/node_modules/countersign', '/usr/bin/node'],
  ['/opt/countersign', '/home/grace/.nvm/versions/node/v20.19.0/bin/node'],
])('who has %s and %s is told first that units could not see it', (packageRoot, node) => {
  const steps = nextSteps({ ...LIVE_CHOICES, packageRoot, node }, '/root/install')
  expect(steps).toMatch(
    /^# Next steps\n\n0\. These units would not start[\s\S]*npm install --prefix/,
  )
  expect(nextSteps(LIVE_CHOICES, '/root/install')).toMatch(/^# Next steps\n\n1\. Fill in/)
})

describe('live init', () => {
  test('writes what the three processes take as it is', async () => {
    const { code, err, target } = await init('whole', URLS)
    expect(code, err).toBe(0)
    const { config, warnings } = readConfig(environmentAt(target, 'service'))
    expect(warnings).toEqual([])
    expect(config).toMatchObject({
      mode: 'live',
      identityIssuer: 'https://id.example.com',
      identityJwksUrl: 'http://127.0.0.1:3100/jwks',
      publicHosts: ['w.example.com'],
      // The proxy is on this machine.
      trustedProxies: parseTrustedProxies('127.0.0.1,::1'),
    })
    expect(readIdentitySettings(environmentAt(target, 'identity-provider'))).toMatchObject({
      publicIssuer: 'https://id.example.com',
      consoleRedirectUris: ['https://w.example.com/console/callback'],
    })
    for (const file of readdirSync(join(target, 'environment'))) {
      expect(statSync(join(target, 'environment', file)).mode & 0o077).toBe(0)
    }
    for (const unit of ['service', 'identity-provider', 'quorum-signer']) {
      const text = readFileSync(join(target, 'systemd', `countersign-${unit}.service`), 'utf8')
      expect(text).toContain(`EnvironmentFile=/etc/countersign/${unit}.env`)
      expect(text).not.toMatch(/^Environment=|\/opt\/countersign/m)
      // An outage of an hour ends by itself, and one process takes nothing from the others.
      for (const bound of [
        'StartLimitIntervalSec=0',
        'Restart=always',
        'MemoryMax=',
        'LimitNOFILE=',
      ])
        expect(text).toContain(`\n${bound}`)
    }
  })

  test('writes a timer for the lists, under the environment of the service', async () => {
    const { target } = await init('timer', URLS)
    const unit = readFileSync(join(target, 'systemd', 'countersign-lists.service'), 'utf8')
    expect(unit).toContain('EnvironmentFile=/etc/countersign/service.env')
    expect(unit).not.toMatch(/^Environment=|\/opt\/countersign/m)
    const timer = readFileSync(join(target, 'systemd', 'countersign-lists.timer'), 'utf8')
    expect(timer).toContain('OnCalendar=')
    const steps = readFileSync(join(target, 'NEXT-STEPS.md'), 'utf8')
    expect(steps).toMatch(/systemctl enable --now .*countersign-lists\.timer/)
  })

  test('knows all six chains, whose nodes come from the environment', async () => {
    const { code, err, target } = await init('six', [...URLS, '--usdc-feeds', `1=${FEED}`])
    expect(code, err).toBe(0)
    const path = join(target, 'chains.json')
    const { chains } = readChainPolicies(path)
    expect(chains.map(({ id }) => id)).toEqual(CHAIN_IDS)
    for (const chain of chains) {
      const own = chain.id === 1 ? FEED : expect.stringMatching(/^0x(?!1{40})[0-9a-fA-F]{40}$/)
      expect(chain.tokens[0]).toMatchObject({ symbol: 'USDC', feed: { address: own } })
      expect(chain.sanctions_oracle?.address).toBe(chainFacts(chain.id)?.sanctionsOracle)
    }
    expect(() => readChainsFile(path, {})).toThrow('the environment has no RPC_URL_ETHEREUM')
  })

  test('asks for what flags leave out and it cannot know', async () => {
    const asked: string[] = []
    const { code, target } = await init('asked', ['--chains', '8453'], async (question) => {
      asked.push(question)
      return question.includes('service') ? 'https://w.example.com' : 'https://id.example.com'
    })
    expect(code).toBe(0)
    expect(asked).toHaveLength(2)
    expect(readChainPolicies(join(target, 'chains.json')).chains).toHaveLength(1)
  })

  test.each([
    ['a directory that holds something', 'whole', URLS, 'not empty'],
    ['no address of the service', 'none', [], '--service-url'],
    ['passwords in the clear', 'http', ['--service-url', 'http://w.example.com'], 'https'],
    ['a chain that is none of ours', 'chain', [...URLS, '--chains', '5'], '5 is not one of'],
    ['half a feed', 'feed', [...URLS, '--usdc-feeds', '1=0x12'], 'equals sign'],
    [
      'a home that systemd takes for two',
      'space',
      [...URLS, '--data', '/srv/my data'],
      'plain path',
    ],
    ['one port for two', 'port', [...URLS, '--identity-port', '8080'], 'give two'],
  ])('refuses %s', async (_what, name, flags, reason) => {
    const { code, err } = await init(name, flags)
    expect(code).toBe(2)
    expect(err).toContain(reason)
  })
})
