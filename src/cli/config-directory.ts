import { join } from 'node:path'
import { UsageError } from './exit-codes.js'
import type { Io } from './io.js'

/** The command line's files of the user: XDG Base Directory Specification. */
export function configDirectory(io: Io): string {
  const { XDG_CONFIG_HOME, HOME } = io.env
  if (!XDG_CONFIG_HOME && !HOME) throw new UsageError('neither XDG_CONFIG_HOME nor HOME is set')
  return join(XDG_CONFIG_HOME || join(HOME ?? '', '.config'), 'countersign')
}

/** The bits of a file's mode that give access to other users. */
export const OTHERS_MASK = 0o077
