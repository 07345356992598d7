import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname, join, relative, sep } from 'node:path'
import type { DomainName } from '../../custody/domain-keys/layout.js'

/**
 * What of a home a backup has: the three domains, each its own user's, and what all of them read.
 * A file that a later build adds to a domain is in the next backup by itself.
 */
export const PARTS = ['service', 'user', 'quorum', 'config'] as const
export type PartName = (typeof PARTS)[number]

const DIRECTORIES: Readonly<Record<DomainName, string>> = {
  service: 'service',
  user: 'identity-provider',
  quorum: 'quorum-signer',
}

/** Of the home itself; all else there is of one run, of one domain, or of the devnet. */
const CONFIG_FILES = [
  'registry.json',
  'chains.json',
  'screening.json',
  '.countersign-home',
] as const
const CONFIG_DIRECTORIES = ['lists'] as const

/** Keys and passwords of a development home. A live one keeps its root elsewhere, and has none. */
const DEV_SECRETS = ['root/root.pem', 'dev-keys.json', 'dev-user.json'] as const

export interface HomeFile {
  readonly part: PartName
  /** From the home, with slashes. */
  readonly path: string
  /** `lmdb`: copied by LMDB, as one snapshot. */
  readonly kind: 'lmdb' | 'file'
  /** A private key or password in clear: copied only when it is asked for. */
  readonly isSecret: boolean
}

/** Where a part lies; what the domains have in common, in the home itself. */
export function directoryOf(home: string, part: PartName): string {
  return part === 'config' ? home : join(home, DIRECTORIES[part])
}

/** Whether this user can back the part up; false where it is another user's. */
export function canRead(home: string, part: PartName): boolean {
  try {
    accessSync(directoryOf(home, part), constants.R_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Where it is on this machine: a part on a host of its own is no part of another host's backup. */
export function isHere(home: string, part: PartName): boolean {
  if (part === 'config') return CONFIG_FILES.some((name) => existsSync(join(home, name)))
  if (!canRead(home, part)) return existsSync(directoryOf(home, part))
  return filesOf(home, part).length > 0
}

/**
 * Everything of a part that a backup can have. Stores before the evidence: the copy of the evidence
 * then covers whatever the stores hold.
 */
export function filesOf(home: string, part: PartName): HomeFile[] {
  if (part === 'config') return configFilesOf(home)
  const directory = directoryOf(home, part)
  if (!existsSync(directory)) return []
  return walk(home, directory)
    .flatMap((path) => domainFile(home, directory, path, part))
    .sort((a, b) => orderOf(a) - orderOf(b) || (a.path < b.path ? -1 : 1))
}

function configFilesOf(home: string): HomeFile[] {
  const file = (path: string, isSecret: boolean): HomeFile[] =>
    existsSync(join(home, path)) ? [{ part: 'config', path, kind: 'file', isSecret }] : []
  const lists = CONFIG_DIRECTORIES.flatMap((name) =>
    existsSync(join(home, name)) ? walk(home, join(home, name)) : [],
  )
  return [
    ...CONFIG_FILES.flatMap((path) => file(path, false)),
    ...lists.flatMap((path) => file(path, false)),
    ...DEV_SECRETS.flatMap((path) => file(path, true)),
  ]
}

/** Of one run, or copied with something else. */
const LEFT_OUT = [
  /(^|\/)[^/]*\.lock$/,
  /(^|\/)lock\.mdb$/,
  /-lock$/,
  // A second copy of the shares, which a restore makes from the first.
  /(^|\/)shares-copy\//,
  // What a backup left behind here.
  /^service\/last-backup\.json$/,
  // A word about this home and one taking of its journal.
  /^(service|identity-provider)\/journal-take$/,
  /^service\/journal-move$/,
  // The next start announces a boot of its own.
  /^service\/custody\/boot$/,
  /(^|\/)(restore|backup-restore|unfenced)\.json$/,
  /-before-restore-\d+\//,
  /(^|\/)restoring\//,
  /-restoring\//,
  /\.\d+\.new$/,
]

function domainFile(
  home: string,
  directory: string,
  path: string,
  part: DomainName,
): readonly HomeFile[] {
  if (LEFT_OUT.some((pattern) => pattern.test(path))) return []
  const isLmdb = path.endsWith('/data.mdb') || path.endsWith('.mdb')
  const kind = isLmdb ? 'lmdb' : 'file'
  return [{ part, path, kind, isSecret: isSecretIn(home, directory, path) }]
}

/** Not secret in `keys/`: public keys, what says where keys are, and what is sealed to a token. */
function isSecretIn(home: string, directory: string, path: string): boolean {
  if (path.endsWith('/login-keys.json')) return true
  const keys = dirname(join(home, path))
  if (!keys.startsWith(directory) || !keys.endsWith(`${sep}keys`)) return false
  if (path.endsWith('.pub.pem') || path.endsWith('/store.json')) return false
  return !(path.endsWith('/wrapping.key') && existsSync(join(keys, 'store.json')))
}

function orderOf({ path, kind }: HomeFile): number {
  if (kind === 'file') return 1
  if (path.endsWith('/evidence/data.mdb')) return 2
  return 0
}

/**
 * Paths of all files below, from the home and with slashes.
 * @throws Error that names a symbolic link: what it leads to would be missing from a backup that says
 * it is whole. A key may lie elsewhere, and is copied only when it is asked for.
 */
function walk(home: string, directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) return walk(home, path)
    const isLink = entry.isSymbolicLink()
    if (isLink && basename(directory) !== 'keys') {
      throw new Error(
        `${path} is a symbolic link, which no backup follows: put what it leads to in its place, by a mount where that is another disk`,
      )
    }
    return isLink || entry.isFile() ? [relative(home, path).split(sep).join('/')] : []
  })
}

/**
 * @param otherwise what else can be done than to run the command as that user
 * @throws Error when the part is another user's: what is written would not be its own
 */
export function requireOwnUser(home: string, part: PartName, otherwise = ''): void {
  const directory = directoryOf(home, part)
  const uid = process.geteuid?.()
  if (part === 'config' || uid === undefined || !existsSync(directory)) return
  const owner = statSync(directory).uid
  if (owner !== uid) {
    throw new Error(
      `${directory} belongs to user ${owner}, and this is user ${uid}: run the command as that user${otherwise}`,
    )
  }
}
