/** The fields of a package's entry in package-lock.json that this check reads. */
interface LockEntry {
  readonly integrity?: string
  /** True for a folder of this repository. */
  readonly link?: boolean
  /** Part of another package's tarball, whose integrity covers it. */
  readonly inBundle?: boolean
}

/**
 * The packages whose tarballs `npm ci` would install unverified. npm writes such entries for optional
 * packages of other platforms, when it makes the lock from an existing `node_modules`.
 */
export function packagesWithoutIntegrity(lockText: string): readonly string[] {
  const lock: { readonly packages: Readonly<Record<string, LockEntry>> } = JSON.parse(lockText)
  return Object.entries(lock.packages)
    .filter(([path, entry]) => path !== '' && entry.link !== true && entry.inBundle !== true)
    .filter(([, entry]) => entry.integrity === undefined || entry.integrity === '')
    .map(([path]) => path)
}
