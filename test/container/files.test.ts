import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parseYaml } from '@redocly/openapi-core'
import { describe, expect, test } from 'vitest'
import { VARIABLES } from '../../src/config/variables.js'
import { identityProviderSocket, quorumSignerSocket } from '../../src/custody/domain-keys/layout.js'

/** The image and the compose file say what the code and the units say. */

interface Domain {
  readonly image: string
  readonly user: string
  readonly group_add: readonly string[]
  readonly command: readonly string[]
  readonly env_file: string
  readonly network_mode: string
  readonly restart: string
  readonly stop_grace_period: string
  readonly read_only: boolean
  readonly cap_drop: readonly string[]
  readonly security_opt: readonly string[]
  readonly volumes: readonly string[]
  readonly mem_limit: string
  readonly memswap_limit: string
  readonly pids_limit: number
  readonly ulimits: Readonly<Record<string, number>>
  readonly healthcheck: { readonly test: readonly string[] }
}

const HOME = '/var/lib/countersign'
const PACKAGE = '/opt/countersign'
const HEALTHY = 'scripts/container/healthy.mjs'
const compose = parseYaml(readFileSync('compose.yaml', 'utf8')) as {
  services: Record<string, Domain>
  volumes: Record<string, unknown>
}
const image = readFileSync('Dockerfile', 'utf8').replaceAll(/\\\n\s*/g, '')
const names = Object.keys(compose.services)

function domain(name: string): Domain {
  const found = compose.services[name]
  if (found === undefined) throw new Error(`no service ${name}`)
  return found
}

/** A directive of the unit of that domain. */
function ofUnit(name: string, directive: string): string {
  const text = readFileSync(`scripts/systemd/countersign-${name}.service`, 'utf8')
  const [, value] = new RegExp(`^${directive}=(.*)$`, 'm').exec(text) ?? []
  if (value === undefined) throw new Error(`countersign-${name} has no ${directive}`)
  return value
}

const size = (text: string) => {
  const [, count, unit = ''] = /^(\d+)([mg])$/i.exec(text) ?? []
  return Number(count) * (unit.toLowerCase() === 'g' ? 1024 : 1)
}

describe('the compose file', () => {
  test('has the three domains, from one image', () => {
    expect(names.toSorted()).toEqual(['identity-provider', 'quorum-signer', 'service'])
    expect(new Set(names.map((name) => domain(name).image)).size).toBe(1)
  })

  test.each(names)('runs %s as its unit does', (name) => {
    const { user, group_add, command, mem_limit, memswap_limit, pids_limit, ulimits } = domain(name)
    const [program, ...args] = command
    expect(program).toBe('node')
    expect(`/usr/bin/node ${args.join(' ')}`).toBe(ofUnit(name, 'ExecStart'))
    expect(user).toBe(ofUnit(name, 'User'))
    expect(group_add.join(' ')).toBe(ofUnit(name, 'SupplementaryGroups'))
    expect(size(mem_limit)).toBe(size(ofUnit(name, 'MemoryMax')))
    // No swap: memory holds keys.
    expect(memswap_limit).toBe(mem_limit)
    expect(pids_limit).toBe(Number(ofUnit(name, 'TasksMax')))
    expect(ulimits).toEqual({ core: 0, nofile: Number(ofUnit(name, 'LimitNOFILE')) })
  })

  test.each(names)('starts %s again for ever, and lets it end, gain and change nothing', (name) => {
    expect(domain(name)).toMatchObject({
      restart: 'always',
      stop_grace_period: `${ofUnit(name, 'TimeoutStopSec')}s`,
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    })
  })

  test('gives each domain its own directory, and nobody another one’s', () => {
    for (const name of names) {
      const targets = domain(name).volumes.map((volume) => volume.split(':')[1])
      const others = names.filter((other) => other !== name).map((other) => `${HOME}/${other}`)
      expect(targets).toContain(HOME)
      expect(targets).toContain(`${HOME}/${name}`)
      for (const other of others) expect(targets).not.toContain(other)
      for (const volume of domain(name).volumes) {
        expect(Object.keys(compose.volumes)).toContain(volume.split(':')[0])
      }
    }
  })

  test('gives the quorum signer no network, and opens no port of the others', () => {
    expect(domain('quorum-signer').network_mode).toBe('none')
    for (const name of ['service', 'identity-provider']) {
      expect(domain(name).network_mode).toBe('host')
      expect(domain(name)).not.toHaveProperty('ports')
    }
  })

  test('takes the environments that live init writes, and names no variable that nothing reads', () => {
    for (const name of names) expect(domain(name).env_file).toMatch(new RegExp(`/${name}\\.env$`))
    const known = new Set(VARIABLES.map((variable) => variable.name))
    const [, settings = ''] = /^ENV (.*)$/m.exec(image) ?? []
    const set = settings.split(' ').map((setting) => setting.split('=')[0] ?? '')
    expect(set.filter((name) => name !== 'NODE_ENV' && !known.has(name))).toEqual([])
  })

  test('asks each domain where it answers', () => {
    for (const name of names) {
      const [kind, program, script, target, ...rest] = domain(name).healthcheck.test
      expect([kind, program, script]).toEqual(['CMD', 'node', `${PACKAGE}/${HEALTHY}`])
      expect(rest).toEqual([])
      expect(target).toBe(
        {
          service: '/healthz',
          'identity-provider': identityProviderSocket('').replace(/^\//, ''),
          'quorum-signer': quorumSignerSocket('').replace(/^\//, ''),
        }[name],
      )
    }
  })
})

describe('the image', () => {
  test('has the programs that are run, from files that the package ships', () => {
    const { files } = JSON.parse(readFileSync('package.json', 'utf8'))
    const run = [...names.map((name) => domain(name).command[1] ?? ''), `${PACKAGE}/${HEALTHY}`]
    for (const path of run.map((each) => each.slice(PACKAGE.length + 1))) {
      expect(existsSync(path), path).toBe(true)
      expect(
        files.some((shipped: string) => path === shipped || path.startsWith(`${shipped}/`)),
      ).toBe(true)
    }
  })

  test('has the users, groups and directories of the units', () => {
    for (const name of names) expect(image).toMatch(new RegExp(` ${ofUnit(name, 'User')} `))
    for (const name of names) {
      for (const group of ofUnit(name, 'SupplementaryGroups').split(' ')) {
        expect(image).toMatch(new RegExp(`groupadd --gid \\d+ ${group} `))
      }
    }
    const modes = readFileSync('scripts/systemd/countersign.tmpfiles.conf', 'utf8')
    const rows = [...modes.matchAll(/^d (\S+) +(\d+) +(\S+) +(\S+)/gm)]
    expect(rows.length).toBeGreaterThan(4)
    for (const [, path = '', mode, owner, group] of rows) {
      expect(image).toMatch(
        new RegExp(`install -d -m ${mode} -o ${owner} -g ${group} (\\S+ )*${path}( |$)`, 'm'),
      )
    }
  })

  test('runs as nobody who is root, and has no secret in it', () => {
    const users = [...image.matchAll(/^USER (\S+)$/gm)].map(([, user]) => user)
    expect(users).toEqual([ofUnit('service', 'User')])
    expect(image).not.toMatch(/^(ADD|ARG|ENV).*(SECRET|TOKEN|PASSWORD|PIN|API_KEY)/m)
    const left = readFileSync('.dockerignore', 'utf8').split('\n')
    for (const path of ['.git', '.countersign', 'node_modules', '.env'])
      expect(left).toContain(path)
  })
})

describe('a health check', () => {
  const check = (target: string, env: Readonly<Record<string, string>>) =>
    promisify(execFile)(process.execPath, [HEALTHY, target], { env }).then(
      () => 0,
      ({ code }: { code: number }) => code,
    )
  const listening = (server: Server, at: number | string) =>
    new Promise<void>((resolve) => server.listen(at, resolve))

  test('of the service passes while it answers, and no longer', async () => {
    let status = 200
    const server = createHttpServer((_request, response) => {
      response.writeHead(status).end()
    })
    await listening(server, 0)
    const address = server.address()
    const PORT = String(typeof address === 'object' ? address?.port : '')
    expect(await check('/healthz', { PORT })).toBe(0)
    status = 503
    expect(await check('/healthz', { PORT })).toBe(1)
    server.close()
    expect(await check('/healthz', { PORT })).toBe(1)
  })

  test('of a socket passes while somebody listens', async () => {
    const home = mkdtempSync(join(tmpdir(), 'cs-healthy-'))
    const server = createServer((socket) => socket.end())
    await listening(server, join(home, 'a.sock'))
    expect(await check('a.sock', { COUNTERSIGN_HOME: home })).toBe(0)
    server.close()
    expect(await check('a.sock', { COUNTERSIGN_HOME: home })).toBe(1)
    rmSync(home, { recursive: true })
  })
})
