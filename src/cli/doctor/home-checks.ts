import { statSync } from 'node:fs'
import { join } from 'node:path'
import { type DomainName, registryPath } from '../../custody/domain-keys/layout.js'
import { domainHeldBy } from '../../custody/home-lock/domain-lock.js'
import { pinnedRoots, verified } from '../../custody-tools/provisioning/install-registry.js'
import { listUsers } from '../../identity-provider/login/create-user.js'
import { OTHERS_MASK } from '../config-directory.js'
import type { Environments } from './environments.js'
import { check, concern, type Finding, failure, fine } from './finding.js'
import { isIdentityElsewhere } from './link-checks.js'

/** Checks the files in the home and the processes that use it. */

interface DomainFacts {
  readonly name: DomainName
  readonly title: string
  readonly directory: string
  readonly unit: string
}

const DOMAINS: readonly DomainFacts[] = [
  {
    name: 'service',
    title: 'wallet service',
    directory: 'service',
    unit: 'countersign-service',
  },
  {
    name: 'user',
    title: 'identity provider',
    directory: 'identity-provider',
    unit: 'countersign-identity-provider',
  },
  {
    name: 'quorum',
    title: 'quorum signer',
    directory: 'quorum-signer',
    unit: 'countersign-quorum-signer',
  },
]

export async function homeChecks(
  home: string,
  environments: Environments,
): Promise<readonly Finding[]> {
  const isElsewhere = isIdentityElsewhere(home, environments)
  const domains = DOMAINS.filter(({ name }) => name !== 'user' || !isElsewhere)
  const asRoot = 'run the doctor as root, which may look at every domain'
  const checks = [
    check('modes', 'every environment has COUNTERSIGN_MODE=live', () => modes(environments)),
    check('directories', `systemd-tmpfiles --create, as NEXT-STEPS.md of live init says`, () =>
      directories(home, domains),
    ),
    check('registry', 'countersign custody install-registry <file>', () =>
      registry(home, environments),
    ),
    ...(isElsewhere ? [] : [check('users', asRoot, () => users(home))]),
    ...domains.map((domain) => check(`process: ${domain.title}`, asRoot, () => runs(home, domain))),
  ]
  return (await Promise.all(checks)).flat()
}

function modes(environments: Environments): Finding {
  const found = new Set(Object.values(environments).map((env) => env.COUNTERSIGN_MODE ?? 'live'))
  const text = [...found].join(' and ')
  if (found.size > 1) {
    return failure('modes', `domains differ: ${text}`, 'set COUNTERSIGN_MODE alike for all three')
  }
  const inFiles = Object.values(environments).some((env) => env.COUNTERSIGN_ALLOW_FILE_KEYS === '1')
  return inFiles && found.has('live')
    ? concern(
        'modes',
        'live, with keys in files, which can be copied',
        'provision again with --pkcs11-module or --kms-url',
      )
    : fine('modes', text)
}

/** Each directory belongs to its own user only: no domain may read another's. */
function directories(home: string, domains: readonly DomainFacts[]): Finding {
  const facts = domains.map(({ directory }) => ({
    directory,
    ...statSync(join(home, directory)),
  }))
  const open = facts.filter(({ mode }) => (mode & OTHERS_MASK) !== 0)
  if (open.length > 0) {
    const names = open.map(({ directory }) => join(home, directory)).join(' ')
    return failure('directories', `others may read: ${names}`, `chmod 0700 ${names}`)
  }
  const owners = new Set(facts.map(({ uid }) => uid))
  return owners.size === facts.length
    ? fine('directories', `${facts.length}, each of its own user`)
    : concern(
        'directories',
        'domains share a user, so an attacker of one domain has the others',
        'run the three units as three users (scripts/systemd)',
      )
}

function registry(home: string, environments: Environments): Finding {
  const { version, environment } = verified(registryPath(home), pinnedRoots(home))
  const mode = environments.service.COUNTERSIGN_MODE ?? 'live'
  const found = `version ${version}, for ${environment}, signed by the pinned root`
  return environment === mode
    ? fine('registry', found)
    : failure('registry', `${found}; the service runs as ${mode}`, 'sign one with --environment')
}

async function users(home: string): Promise<Finding> {
  const found = await listUsers(join(home, 'identity-provider'))
  return found.length === 0
    ? concern('users', 'nobody can sign in', 'countersign users create <email>')
    : fine('users', `${found.length} can sign in`)
}

function runs(home: string, { name, title, unit }: DomainFacts): Finding {
  const holder = domainHeldBy(home, name)
  return holder === null
    ? failure(`process: ${title}`, 'does not run', `systemctl start ${unit}; journalctl -u ${unit}`)
    : fine(`process: ${title}`, holder)
}
