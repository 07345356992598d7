// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";

/// @title Sanctions oracle of the development chains
/// @notice The shape of the Chainalysis oracle: the same reader, writers and events.
contract DevSanctionsOracle is Ownable {
    mapping(address account => bool listed) private _sanctioned;

    event SanctionedAddressesAdded(address[] addrs);
    event SanctionedAddressesRemoved(address[] addrs);

    constructor(address owner_) Ownable(owner_) {}

    function name() external pure returns (string memory) {
        return "Countersign development sanctions oracle";
    }

    function addToSanctionsList(address[] calldata added) external onlyOwner {
        for (uint256 i = 0; i < added.length; i++) {
            _sanctioned[added[i]] = true;
        }
        emit SanctionedAddressesAdded(added);
    }

    function removeFromSanctionsList(address[] calldata removed) external onlyOwner {
        for (uint256 i = 0; i < removed.length; i++) {
            _sanctioned[removed[i]] = false;
        }
        emit SanctionedAddressesRemoved(removed);
    }

    function isSanctioned(address account) external view returns (bool) {
        return _sanctioned[account];
    }
}
