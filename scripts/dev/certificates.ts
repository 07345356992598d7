import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

/** Makes certificates as CLUSTER.md tells operators to, with this machine's `openssl`. */
export interface Authority {
  /** PEM. */
  readonly certificate: string
  /** Returns the paths of a new certificate and its key. */
  issue(name: string, terms: Terms): Issued
}

export interface Terms {
  readonly usage: 'serverAuth' | 'clientAuth' | 'serverAuth,clientAuth'
  /** Names such as `DNS:identity,IP:127.0.0.1`. */
  readonly names?: string
  /** A negative number makes an expired certificate. */
  readonly days?: number
}

export interface Issued {
  readonly certificate: string
  readonly key: string
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-noenc']

/** @param directory the directory for all files; the umask decides the mode of keys */
export function makeAuthority(directory: string, name: string, days = 2): Authority {
  const at = (file: string) => join(directory, file)
  const own = { certificate: at(`${name}.pem`), key: at(`${name}.key`) }
  openssl([
    ...['req', '-x509', ...NEW_KEY, '-days', String(days), '-subj', `/CN=${name}`],
    ...['-addext', 'keyUsage=critical,keyCertSign', '-keyout', own.key, '-out', own.certificate],
  ])
  return {
    certificate: own.certificate,
    issue(subject, { usage, names, days = 2 }) {
      const issued = { certificate: at(`${subject}.pem`), key: at(`${subject}.key`) }
      const request = at(`${subject}.csr`)
      openssl([
        ...['req', '-new', ...NEW_KEY, '-subj', `/CN=${subject}`],
        ...['-addext', 'basicConstraints=critical,CA:FALSE'],
        ...[
          '-addext',
          'keyUsage=critical,digitalSignature',
          '-addext',
          `extendedKeyUsage=${usage}`,
        ],
        ...(names === undefined ? [] : ['-addext', `subjectAltName=${names}`]),
        ...['-keyout', issued.key, '-out', request],
      ])
      openssl([
        ...['x509', '-req', '-in', request, '-CA', own.certificate, '-CAkey', own.key],
        ...['-copy_extensions', 'copyall', '-days', String(days), '-out', issued.certificate],
      ])
      return issued
    },
  }
}

function openssl(args: readonly string[]): void {
  execFileSync('openssl', args, { stdio: 'pipe' })
}
