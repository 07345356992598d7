import { execFileSync, spawnSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseYaml } from '@redocly/openapi-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readJournalFile } from '../../src/config/journal.js'
import { VARIABLES } from '../../src/config/variables.js'

/** The compose file of a cluster, next to the one that it is used with. */

interface Service {
  readonly environment?: Readonly<Record<string, string>>
  readonly secrets?: readonly string[]
  readonly volumes?: readonly string[]
  readonly depends_on?: readonly string[]
  readonly command?: readonly string[]
  readonly [name: string]: unknown
}

interface ComposeFile {
  readonly name: string
  readonly services: Readonly<Record<string, Service>>
  readonly volumes: Readonly<Record<string, unknown>>
  readonly secrets: Readonly<Record<string, { readonly file: string }>>
}

const SECRETS = '/run/secrets/'
const MODE_BITS = 0o777
const read = (path: string) => parseYaml(readFileSync(path, 'utf8')) as ComposeFile
const [base, cluster] = [read('compose.yaml'), read('compose.cluster.yaml')]

function service(name: string, file = cluster): Service {
  const found = file.services[name]
  if (found === undefined) throw new Error(`no service ${name}`)
  return found
}

/** Without what a second one has of its own. */
function shared({
  environment: _e,
  secrets: _s,
  depends_on: _d,
  volumes: _v,
  build: _b,
  ...rest
}: Service) {
  return rest
}

describe('the compose file of a cluster', () => {
  test('is of the same project, and changes of its domains the environment and files alone', () => {
    expect(cluster.name).toBe(base.name)
    const both = Object.keys(cluster.services).filter((name) => name in base.services)
    expect(both.toSorted()).toEqual(['identity-provider', 'service'])
    for (const name of both) {
      const changed = Object.keys(service(name)).filter((key) => key !== 'depends_on')
      expect(changed.toSorted()).toEqual(['environment', 'secrets'])
    }
  })

  test.each(['service', 'quorum-signer'])('runs a second %s as the first one', (name) => {
    const [first, second] = [service(name, base), service(`${name}-2`)]
    expect(shared(second)).toEqual(shared(first))
    // On volumes of its own, at the same places.
    const [own, others] = [second.volumes ?? [], first.volumes ?? []]
    expect(own).toEqual(others.map((volume) => volume.replace(':', '-2:')))
    for (const volume of own) expect(cluster.volumes).toHaveProperty(volume.split(':')[0] ?? '')
  })

  test('has secrets in files alone: what it sets names files, and is read by that process', () => {
    const readers = { 'identity-provider': 'identity provider', service: 'service' } as const
    for (const [name, { environment = {}, secrets = [] }] of Object.entries(cluster.services)) {
      for (const [variable, value] of Object.entries(environment)) {
        if (value.startsWith(SECRETS)) {
          expect(secrets, `${name}: ${variable}`).toContain(value.slice(SECRETS.length))
        } else
          expect(String(value)).toMatch(
            /^(standby|journal_standby(_2)?|\d+|--auth-host=scram-sha-256|\$\{[A-Z_0-9]+:-(standby|\d*)\})$/,
          )
        const reader = readers[name.replace(/-2$/, '') as keyof typeof readers]
        if (reader === undefined) continue
        const known = VARIABLES.find((each) => each.name === variable)
        expect([variable, known?.readers]).toEqual([variable, expect.arrayContaining([reader])])
      }
      for (const secret of secrets) expect(cluster.secrets).toHaveProperty([secret])
    }
    const used = Object.values(cluster.services).flatMap(({ secrets = [] }) => secrets)
    expect(Object.keys(cluster.secrets).toSorted()).toEqual([...new Set(used)].toSorted())
  })

  test.each(['journal', 'journal-standby', 'journal-standby-2'])(
    'bounds %s, lets it gain nothing and listen on loopback',
    (name) => {
      expect(service(name)).toMatchObject({
        ...{ restart: 'always', read_only: true, user: 'postgres', cap_drop: ['ALL'] },
        ...{ security_opt: ['no-new-privileges:true'], network_mode: 'host' },
      })
      expect(service(name)).not.toHaveProperty('ports')
      expect(service(name).command).toContain('listen_addresses=127.0.0.1')
      const mounted = (service(name).volumes ?? []).filter((volume) => volume.startsWith('./'))
      expect(mounted).toHaveLength(1)
      for (const volume of mounted) expect(existsSync(volume.split(':')[0] ?? '')).toBe(true)
    },
  )

  test('two nodes have a port each, and the journal another one than either', () => {
    const { PORT = '', METRICS_PORT } = service('service-2').environment ?? {}
    expect(PORT).toMatch(/:-8081\}$/)
    // Where the first one serves its metrics, the second one would find the port taken.
    expect(METRICS_PORT).toMatch(/:-\}$/)
  })
})

describe('what cluster-secrets.sh makes', () => {
  let directory: string
  const at = (name: string) => join(directory, 'cluster', name)

  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'cs-cluster-files-'))
    execFileSync('sh', ['scripts/container/cluster-secrets.sh', at('')], { stdio: 'pipe' })
  })
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  test('is each file that the compose file names, those with a secret their user’s alone', () => {
    const made = readdirSync(at('')).filter((name) => name !== 'authorities')
    expect(made.toSorted()).toEqual(Object.keys(cluster.secrets).toSorted())
    for (const [name, { file }] of Object.entries(cluster.secrets)) {
      expect(file).toMatch(new RegExp(`/${name}$`))
      const { mode, uid } = statSync(at(name))
      expect([name, mode & MODE_BITS]).toEqual([name, name.endsWith('.pem') ? 0o644 : 0o600])
      if (process.getuid?.() !== 0 || name.endsWith('.pem')) continue
      const readers = Object.entries(cluster.services)
        .filter(([, { secrets = [] }]) => secrets.includes(name))
        .map(([reader]) => numberOf(reader))
      expect([name, [...new Set(readers)]]).toEqual([name, [uid]])
    }
  })

  test('is what the processes take: a journal of three servers, and links by one authority each', () => {
    const { postgres = [] } = readJournalFile(at('journal.json'))
    const ports = ['journal', 'journal-standby', 'journal-standby-2'].map(
      (name) => service(name).environment?.PGPORT,
    )
    expect(postgres.map((url) => new URL(url).port)).toEqual(ports)
    const password = readFileSync(at('journal.password'), 'utf8').trim()
    for (const url of postgres)
      expect(new URL(url)).toMatchObject({ hostname: '127.0.0.1', password })
    for (const [name, authority, usage] of [
      ['identity', 'services', '1.3.6.1.5.5.7.3.1'],
      ['service-2', 'services', '1.3.6.1.5.5.7.3.2'],
      ['node-1', 'nodes', '1.3.6.1.5.5.7.3.1'],
      ['node-2', 'nodes', '1.3.6.1.5.5.7.3.2'],
    ] as const) {
      const certificate = new X509Certificate(readFileSync(at(`${name}.pem`)))
      const issuer = new X509Certificate(readFileSync(at(`${authority}.pem`)))
      expect(certificate.verify(issuer.publicKey)).toBe(true)
      expect(certificate.keyUsage).toContain(usage)
      const link = JSON.parse(readFileSync(at(`${name}.json`), 'utf8'))
      expect(link).toMatchObject({
        certificate: `${SECRETS}${name}.pem`,
        key: `${SECRETS}${name}.key`,
        authority: `${SECRETS}${authority}.pem`,
      })
    }
  })

  test('is never put over what is there', () => {
    const before = readFileSync(at('journal.json'), 'utf8')
    const again = spawnSync('sh', ['scripts/container/cluster-secrets.sh', at('')], {
      encoding: 'utf8',
    })
    expect([again.status, again.stderr]).toEqual([2, expect.stringContaining('is there')])
    expect(readFileSync(at('journal.json'), 'utf8')).toBe(before)
  })

  /** Of the user that a service runs as, by the image. */
  function numberOf(name: string): number {
    const user = String(service(name).user ?? service(name, base).user)
    if (user === 'postgres') return 999
    const image = readFileSync('Dockerfile', 'utf8')
    return Number(new RegExp(`useradd --uid (\\d+) .* ${user} `).exec(image)?.[1])
  }
})
