import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { z } from 'zod'
import { identityProviderSocket, quorumSignerSocket } from '../../custody/domain-keys/layout.js'
import { whileTheyHold } from './certificate-ends.js'
import type { Environments } from './environments.js'
import { check, concern, type Finding, failure, fine } from './finding.js'
import { isIdentityElsewhere, linkChecks } from './link-checks.js'

/**
 * Checks what can be reached: the processes by their ports and sockets, and the names in front of
 * them.
 */

const TIMEOUT_MS = 10_000
const ANY_ADDRESS: ReadonlySet<string> = new Set(['0.0.0.0', '::'])

const readiness = z.object({
  status: z.string(),
  parts: z.record(
    z.string(),
    z.looseObject({ status: z.enum(['up', 'degraded', 'down']), reason: z.string().optional() }),
  ),
})
const discovery = z.looseObject({ issuer: z.string() })

const PART_WAY_OUT: Readonly<Record<string, string>> = {
  co_signer: 'systemctl status countersign-identity-provider',
  quorum: 'systemctl status countersign-quorum-signer',
  lists: 'countersign lists update; journalctl -u countersign-service',
  disk: 'free space',
  clock: 'timedatectl set-ntp true',
}

export async function reachChecks(
  home: string,
  environments: Environments,
): Promise<readonly Finding[]> {
  const { service } = environments
  const port = service.PORT ?? '8080'
  const local = `http://127.0.0.1:${port}`
  const details = (service.METRICS_PORT ?? '') === '' ? null : metricsAt(service)
  const hosts = (service.COUNTERSIGN_PUBLIC_HOSTS ?? '').split(',').filter((host) => host !== '')
  const issuer = service.IDENTITY_ISSUER
  const checks = [
    check('service', 'journalctl -u countersign-service', () => serviceParts(local, details)),
    check('login', 'journalctl -u countersign-identity-provider; IDENTITY_ISSUER', () =>
      login(issuer),
    ),
    ...[
      ...(isIdentityElsewhere(home, environments)
        ? []
        : [['socket: identity provider', identityProviderSocket(home)] as const]),
      ['socket: quorum signer', quorumSignerSocket(home)] as const,
    ].map(([subject, path]) => check(subject, 'start its unit', () => socket(subject, path))),
    linkChecks(environments),
    ...hosts.map((host) =>
      check(`TLS: ${host}`, 'put a proxy in front; live init has samples', () => tls(host)),
    ),
  ]
  return (await Promise.all(checks)).flat()
}

/** The address of the operator's metrics port, where `/readyz` also shows reasons. */
function metricsAt({ METRICS_PORT, HOST }: Environments['service']): string {
  const host = HOST === undefined || ANY_ADDRESS.has(HOST) ? '127.0.0.1' : HOST
  return `http://${host.includes(':') ? `[${host}]` : host}:${METRICS_PORT}`
}

async function serviceParts(local: string, details: string | null): Promise<Finding[]> {
  const shown = readiness.parse(await getJson(`${local}/readyz`))
  const whole =
    details === null
      ? null
      : await getJson(`${details}/readyz`)
          .then((body) => readiness.parse(body))
          .catch(() => null)
  const { status, parts } = whole ?? shown
  const rows = Object.entries(parts).map(([name, part]) => {
    const subject = `service: ${name}`
    if (part.status === 'up') return fine(subject, 'up')
    const report = part.status === 'down' ? failure : concern
    return report(
      subject,
      part.reason ?? `${part.status}: the log says why, and /readyz on METRICS_PORT`,
      PART_WAY_OUT[name] ?? 'journalctl -u countersign-service',
    )
  })
  const head =
    status === 'ready'
      ? fine('service', `takes writes at ${local}`)
      : failure('service', `not ready at ${local}`, 'see the lines of the service')
  return [head, ...rows]
}

async function login(issuer: string | undefined): Promise<Finding> {
  if (issuer === undefined) {
    return failure('login', 'nobody can sign in', 'set IDENTITY_ISSUER for the service')
  }
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const found = discovery.parse(await getJson(url)).issuer
  return found === issuer
    ? fine('login', `answers as ${issuer}`)
    : failure('login', `calls itself ${found}`, `IDENTITY_ISSUER=${found} for the service`)
}

function socket(subject: string, path: string): Promise<Finding> {
  if (!existsSync(path)) return Promise.resolve(failure(subject, 'is not there', 'start its unit'))
  return new Promise((resolve, reject) => {
    const opened = connect(path)
    opened.setTimeout(TIMEOUT_MS, () => opened.destroy(new Error('no answer')))
    opened.once('error', reject)
    opened.once('connect', () => {
      opened.destroy()
      resolve(fine(subject, 'open'))
    })
  })
}

/** Checks the name that clients use, its certificate, and that the service is behind it. */
async function tls(host: string): Promise<Finding> {
  const subject = `TLS: ${host}`
  if (host === '127.0.0.1' || host === 'localhost') {
    return concern(
      subject,
      'none on loopback: a trial',
      'use its own host name, and put a proxy in front',
    )
  }
  const endsAtMs = await certificateEnd(host)
  await getJson(`https://${host}/healthz`)
  return whileTheyHold(subject, 'answers', [['certificate', endsAtMs]])
}

/** @throws Error when the chain does not verify */
function certificateEnd(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const opened = connectTls({ host, port: 443, servername: host })
    opened.setTimeout(TIMEOUT_MS, () => opened.destroy(new Error('no answer')))
    opened.once('error', reject)
    opened.once('secureConnect', () => {
      const { valid_to } = opened.getPeerCertificate()
      opened.destroy()
      resolve(Date.parse(valid_to))
    })
  })
}

/** Accepts any status, because a 503 of `/readyz` has its parts as well. */
async function getJson(url: string): Promise<unknown> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) })
    return await response.json()
  } catch (cause) {
    throw new Error(`${new URL(url).origin} gave no valid answer`, { cause })
  }
}
