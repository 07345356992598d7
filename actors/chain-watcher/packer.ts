import { packed, unpacked } from '../../src/store/encodings/sealing.js'
import type { Packer } from './core/settled-blocks.js'

export const packer: Packer = { pack: packed, unpack: unpacked }
