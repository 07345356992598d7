import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname, join, relative, sep } from 'node:path'
import type { DomainName } from '../../custody/domain-keys/layout.js'

/**
 * The parts of a home in a backup: the three domains, each its own user's, and what all of them
 * read. A file that a later build adds to a domain is backed up without a change here.
 */
export const PARTS = ['service', 'user', 'quorum', 'config'] as const
export type PartName = (typeof PARTS)[number]

const DIRECTORIES: Readonly<Record<DomainName, string>> = {
  service: 'service',
  user: 'identity-provider',
  quorum: 'quorum-signer',
}

/** The home's own files; everything else belongs to one run, one domain, or the devnet. */
const CONFIG_FILES = [
  'registry.json',
  'chains.json',
  'screening.json',
  '.countersign-home',
] as const
const CONFIG_DIRECTORIES = ['lists'] as const

/**
 * Keys and passwords of a development home. A live home has neither; its root is on another
 * machine.
 */
const DEV_SECRETS = ['root/root.pem', 'dev-keys.json', 'dev-user.json'] as const

export interface HomeFile {
  readonly part: PartName
  /** Relative to the home, with slashes. */
  readonly path: string
  /** `lmdb` files are copied by LMDB, as one snapshot. */
  readonly kind: 'lmdb' | 'file'
  /** True for a private key or password in clear, which is copied only on request. */
  readonly isSecret: boolean
}

/** Returns a part's directory; the home itself for what the domains share. */
export function directoryOf(home: string, part: PartName): string {
  return part === 'config' ? home : join(home, DIRECTORIES[part])
}

/** Tells whether this user can back up the part; false when it belongs to another user. */
export function canRead(home: string, part: PartName): boolean {
  try {
    accessSync(directoryOf(home, part), constants.R_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

/**
 * Tells whether the part is on this machine: a part on another host belongs to that host's backup.
 */
export function isHere(home: string, part: PartName): boolean {
  if (part === 'config') return CONFIG_FILES.some((name) => existsSync(join(home, name)))
  if (!canRead(home, part)) return existsSync(directoryOf(home, part))
  return filesOf(home, part).length > 0
}

/**
 * Lists every file of a part that a backup can have. Stores come before the evidence, whose copy
 * then covers everything in the stores.
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

/** Files of one run, or copied with another file. */
const LEFT_OUT = [
  /(^|\/)[^/]*\.lock$/,
  /(^|\/)lock\.mdb$/,
  /-lock$/,
  // The second copy of the shares, which a restore makes from the first.
  /(^|\/)shares-copy\//,
  // A note that an earlier backup left here.
  /^service\/last-backup\.json$/,
  // Requests about one leadership of this home.
  /^(service|identity-provider)\/journal-take$/,
  /^service\/journal-move$/,
  // The next start announces a boot of its own.
  /^service\/custody\/boot$/,
  /(^|\/)(restore|backup-restore|unfenced)\.json$/,
  /-before-restore-\d+\//,
  /(^|\/)restoring\//,
  /-restoring\//,
  // Drafts are renamed or removed while a copy is made, so that it would miss them.
  /\.[0-9a-f]+\.new$/,
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

/**
 * In `keys/` these are not secret: public keys, files that name a store, and what is sealed to a
 * token.
 */
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
 * Returns the paths of all files below a directory, relative to the home and with slashes.
 * @throws Error that names a symbolic link: its target would be missing from a backup that claims
 * to be complete. A key outside the home is copied only on request.
 */
function walk(home: string, directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) return walk(home, path)
    const isLink = entry.isSymbolicLink()
    if (isLink && basename(directory) !== 'keys') {
      throw new Error(
        `${path} is a symbolic link, which a backup does not follow: replace it with its target, or mount the other disk there`,
      )
    }
    return isLink || entry.isFile() ? [relative(home, path).split(sep).join('/')] : []
  })
}

/**
 * @param otherwise what else the user can do than run the command as that user
 * @throws Error when the part belongs to another user, who would not own what is written
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
