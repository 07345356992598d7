// Generated from DevSanctionsOracle.sol by scripts/contracts/compile.ts; do not edit.
export const devSanctionsOracleAbi = [
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "owner_",
        "type": "address"
      }
    ],
    "stateMutability": "nonpayable",
    "type": "constructor"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "owner",
        "type": "address"
      }
    ],
    "name": "OwnableInvalidOwner",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "account",
        "type": "address"
      }
    ],
    "name": "OwnableUnauthorizedAccount",
    "type": "error"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "address",
        "name": "previousOwner",
        "type": "address"
      },
      {
        "indexed": true,
        "internalType": "address",
        "name": "newOwner",
        "type": "address"
      }
    ],
    "name": "OwnershipTransferred",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": false,
        "internalType": "address[]",
        "name": "addrs",
        "type": "address[]"
      }
    ],
    "name": "SanctionedAddressesAdded",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": false,
        "internalType": "address[]",
        "name": "addrs",
        "type": "address[]"
      }
    ],
    "name": "SanctionedAddressesRemoved",
    "type": "event"
  },
  {
    "inputs": [
      {
        "internalType": "address[]",
        "name": "added",
        "type": "address[]"
      }
    ],
    "name": "addToSanctionsList",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "account",
        "type": "address"
      }
    ],
    "name": "isSanctioned",
    "outputs": [
      {
        "internalType": "bool",
        "name": "",
        "type": "bool"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "name",
    "outputs": [
      {
        "internalType": "string",
        "name": "",
        "type": "string"
      }
    ],
    "stateMutability": "pure",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "owner",
    "outputs": [
      {
        "internalType": "address",
        "name": "",
        "type": "address"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address[]",
        "name": "removed",
        "type": "address[]"
      }
    ],
    "name": "removeFromSanctionsList",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "renounceOwnership",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "newOwner",
        "type": "address"
      }
    ],
    "name": "transferOwnership",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  }
] as const

/** Creation code, without constructor arguments. */
export const devSanctionsOracleBytecode =
  '0x6080604052348015600e575f5ffd5b506040516106f23803806106f2833981016040819052602b9160b4565b806001600160a01b038116605857604051631e4fbdf760e01b81525f600482015260240160405180910390fd5b605f816065565b505060df565b5f80546001600160a01b038381166001600160a01b0319831681178455604051919092169283917f8be0079c531659141344cd1fd0a4f28419497f9722a3daafe3b4186f6b6457e09190a35050565b5f6020828403121560c3575f5ffd5b81516001600160a01b038116811460d8575f5ffd5b9392505050565b610606806100ec5f395ff3fe608060405234801561000f575f5ffd5b506004361061007a575f3560e01c8063b972dfcc11610058578063b972dfcc146100cd578063df592f7d146100e0578063ef78243114610128578063f2fde38b1461013b575f5ffd5b806306fdde031461007e578063715018a61461009c5780638da5cb5b146100a6575b5f5ffd5b61008661014e565b604051610093919061044d565b60405180910390f35b6100a461016e565b005b5f5460405173ffffffffffffffffffffffffffffffffffffffff9091168152602001610093565b6100a46100db3660046104a0565b610181565b6101186100ee366004610539565b73ffffffffffffffffffffffffffffffffffffffff165f9081526001602052604090205460ff1690565b6040519015158152602001610093565b6100a46101363660046104a0565b610256565b6100a4610149366004610539565b61031f565b60606040518060600160405280602881526020016105de60289139905090565b610176610387565b61017f5f6103d9565b565b610189610387565b5f5b81811015610218576001805f8585858181106101a9576101a9610559565b90506020020160208101906101be9190610539565b73ffffffffffffffffffffffffffffffffffffffff16815260208101919091526040015f2080547fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff001691151591909117905560010161018b565b507f2596d7dd6966c5673f9c06ddb0564c4f0e6d8d206ea075b83ad9ddd71a4fb927828260405161024a929190610586565b60405180910390a15050565b61025e610387565b5f5b818110156102ed575f60015f85858581811061027e5761027e610559565b90506020020160208101906102939190610539565b73ffffffffffffffffffffffffffffffffffffffff16815260208101919091526040015f2080547fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff0016911515919091179055600101610260565b507f32aab684eee99db715515d1a9987a8fe33bb6341b0e35e60db7eab48a08f9a3a828260405161024a929190610586565b610327610387565b73ffffffffffffffffffffffffffffffffffffffff811661037b576040517f1e4fbdf70000000000000000000000000000000000000000000000000000000081525f60048201526024015b60405180910390fd5b610384816103d9565b50565b5f5473ffffffffffffffffffffffffffffffffffffffff16331461017f576040517f118cdaa7000000000000000000000000000000000000000000000000000000008152336004820152602401610372565b5f805473ffffffffffffffffffffffffffffffffffffffff8381167fffffffffffffffffffffffff0000000000000000000000000000000000000000831681178455604051919092169283917f8be0079c531659141344cd1fd0a4f28419497f9722a3daafe3b4186f6b6457e09190a35050565b602081525f82518060208401528060208501604085015e5f6040828501015260407fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe0601f83011684010191505092915050565b5f5f602083850312156104b1575f5ffd5b823567ffffffffffffffff8111156104c7575f5ffd5b8301601f810185136104d7575f5ffd5b803567ffffffffffffffff8111156104ed575f5ffd5b8560208260051b8401011115610501575f5ffd5b6020919091019590945092505050565b803573ffffffffffffffffffffffffffffffffffffffff81168114610534575f5ffd5b919050565b5f60208284031215610549575f5ffd5b61055282610511565b9392505050565b7f4e487b71000000000000000000000000000000000000000000000000000000005f52603260045260245ffd5b602080825281018290525f8360408301825b858110156105d35773ffffffffffffffffffffffffffffffffffffffff6105be84610511565b16825260209283019290910190600101610598565b509594505050505056fe436f756e7465727369676e20646576656c6f706d656e742073616e6374696f6e73206f7261636c65'
