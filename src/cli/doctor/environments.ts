import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { IDENTITY_LINK_VARIABLE } from '../../config/identity-link.js'

export type Environment = Readonly<Record<string, string | undefined>>

/** The environment of each domain. */
export interface Environments {
  readonly service: Environment
  readonly identityProvider: Environment
  readonly quorumSigner: Environment
}

const LINE = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/

/** Uses one environment for all three. */
export function sharedEnvironment(own: Environment): Environments {
  return { service: own, identityProvider: own, quorumSigner: own }
}

/**
 * @param directory the directory of the units' environment files
 * @throws Error for a file that cannot be read
 */
export function readEnvironments(directory: string): Environments {
  const at = (name: string) => join(directory, `${name}.env`)
  const service = readEnvironmentFile(at('service'))
  // A service may have its identity provider on another machine.
  const isElsewhere = (service[IDENTITY_LINK_VARIABLE] ?? '') !== ''
  const identity = at('identity-provider')
  return {
    service,
    identityProvider:
      isElsewhere && !existsSync(identity)
        ? { COUNTERSIGN_MODE: service.COUNTERSIGN_MODE }
        : readEnvironmentFile(identity),
    quorumSigner: readEnvironmentFile(at('quorum-signer')),
  }
}

/** Reads an `EnvironmentFile` without quotes, as systemd does and `live init` writes it. */
function readEnvironmentFile(path: string): Environment {
  const lines = readFileSync(path, 'utf8').split('\n')
  return Object.fromEntries(
    lines.flatMap((line) => {
      const [, name, value = ''] = LINE.exec(line.trim()) ?? []
      return name === undefined || value === '' ? [] : [[name, value]]
    }),
  )
}
