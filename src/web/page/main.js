// main.js - the page begins here.
import './style.css';
