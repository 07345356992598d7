// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";

contract Collectible is ERC721 {
    constructor() ERC721("Collectible", "COL") {}

    function mint(address to, uint256 id) external {
        _mint(to, id);
    }
}
